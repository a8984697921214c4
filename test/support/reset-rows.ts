/** A larger database is not reset, because that takes too long. Bytes; an empty database has 10 MB. */
const BYTES_MAX = 16 * 1024 * 1024;

/**
 * SQL that stores the rows of a prepared database in a schema `prepared`, with a function `prepared.reset_rows()` that
 * restores all tables. It returns false and changes nothing if the tables were altered or are too large, or another
 * client is connected.
 */
export const RESET_ROWS = `
CREATE SCHEMA prepared;
-- Identifiers of tables are the same in each copy. Columns of indexes are among the columns.
CREATE FUNCTION prepared.shape() RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(' ',
    (SELECT sum((hashtextextended(a.attname::text, a.attrelid::bigint * 4096 + a.attnum * 2 + a.attnotnull::int) >> 8) + a.atttypid::bigint)
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped),
    (SELECT sum(oid::bigint) FROM pg_constraint WHERE connamespace = 'public'::regnamespace),
    (SELECT sum(oid::bigint) FROM pg_trigger),
    (SELECT sum(oid::bigint) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
    (SELECT setconfig FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())))
$$;
CREATE FUNCTION prepared.tables_with_rows() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
$$;
CREATE TABLE prepared.made AS SELECT prepared.shape() AS shape, ARRAY(SELECT prepared.tables_with_rows()) AS tables;
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY (SELECT tables FROM prepared.made) LOOP
    EXECUTE format('CREATE TABLE prepared.%I AS TABLE public.%I', 'of_' || name, name);
  END LOOP;
END $$;
CREATE FUNCTION prepared.others_connected() RETURNS boolean LANGUAGE sql AS $$
  SELECT EXISTS (SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend')
$$;
CREATE FUNCTION prepared.reset_rows() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE name text;
BEGIN
  -- A client that does not leave may connect again in the middle of the next test.
  FOR i IN 0..20 LOOP
    EXIT WHEN NOT prepared.others_connected();
    IF i = 20 THEN RETURN false; END IF;
    PERFORM pg_sleep(0.02);
    PERFORM pg_stat_clear_snapshot();
  END LOOP;
  IF prepared.shape() <> (SELECT shape FROM prepared.made) OR pg_database_size(current_database()) > ${BYTES_MAX} THEN
    RETURN false;
  END IF;
  -- No foreign key is checked, so the order of tables does not matter.
  SET LOCAL session_replication_role = replica;
  FOR name IN SELECT prepared.tables_with_rows() LOOP
    EXECUTE format('DELETE FROM public.%I', name);
  END LOOP;
  FOREACH name IN ARRAY (SELECT tables FROM prepared.made) LOOP
    EXECUTE format('INSERT INTO public.%I TABLE prepared.%I', name, 'of_' || name);
  END LOOP;
  RETURN true;
END $$;
`;
