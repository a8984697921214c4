/**
 * The kinds of tokens, one character each, so that a statement is a short text whose shape patterns match: `s` text, `1`
 * number or constant, `n` name, `v` variable, `V` variable of the server, `&` logical operator, `o` comparison, `a`
 * arithmetic, `c` comment to the end, `U` union, `E` select, `T` another statement, `B` a clause after a condition, `k`
 * another keyword, `f` function, `F` function that attacks use, `W` waitfor, `C` case, `x` anything else; brackets,
 * commas, semicolons and dots are themselves.
 */
export type SqlKind = string;

const list = (kind: SqlKind, words: string): readonly (readonly [string, SqlKind])[] => words.split(",").map((word) => [word.trim(), kind]);

/** Words of SQL, and of its dialects; two words with one space between them. */
export const SQL_WORDS: ReadonlyMap<string, SqlKind> = new Map([
  ...list("&", "and, or, xor"),
  ...list(
    "o",
    "like, rlike, regexp, in, between, is, ilike, similar, sounds like, not like, not in, not between, is not, not rlike, not regexp",
  ),
  ...list("a", "div, mod, not, binary, distinct, collate"),
  ...list("1", "null, true, false, unknown"),
  ...list("U", "union, union all, union distinct, union distinctrow, intersect, except, minus"),
  ...list("E", "select, select distinct, select all, select top"),
  ...list("W", "waitfor, waitfor delay, waitfor time"),
  ...list("C", "case, case when"),
  ...list(
    "T",
    `insert into, replace into, delete from, drop table, drop database, drop view, drop user, drop procedure, drop function, drop index,
     drop schema, drop trigger, drop login, create table, create database, create view, create user, create procedure, create function,
     create index, create schema, create trigger, create login, create or, create alias, alter table, alter database, alter user, alter login,
     truncate table, exec, execute, declare, shutdown, load data, grant all, merge into, copy from, backup database, bulk insert, handler`,
  ),
  ...list(
    "B",
    `order by, group by, having, limit, offset, procedure, procedure analyse, into outfile, into dumpfile, for update, lock in, window`,
  ),
  ...list(
    "k",
    `from, where, into, values, set, join, inner join, left join, right join, cross join, on, as, when, then, else, end, using, update,
     insert, delete, drop, create, alter, truncate, exists, all, any, some, escape, by, desc, asc, into, with, returning, over, partition by`,
  ),
]);

/** Functions of databases, if a bracket follows. */
export const SQL_FUNCTIONS: ReadonlyMap<string, "f" | "F"> = new Map([
  ...list(
    "f",
    `abs, ascii, avg, bin, cast, ceil, char, chr, coalesce, concat, concat_ws, convert, count, cot, current_user, database, date, db_name, decode,
     elt, exp, field, find_in_set, floor, format, greatest, hex, if, ifnull, iif, instr, isnull, json_extract, least, left, length, len, ln,
     locate, log, lower, lpad, ltrim, make_set, max, md5, mid, min, now, nullif, nvl, ord, position, pow, power, quote, rand, replace, reverse,
     right, round, row, rpad, rtrim, schema, session_user, sha1, sign, soundex, space, sqrt, strcmp, str, substr, substring, substring_index,
     sum, system_user, to_char, to_number, trim, truncate, ucase, unhex, upper, user, user_name, version, unicode, string_agg, listagg,
     array_agg, row_number, current_database, current_schema, exists, values, int, varchar, any_value`,
  ),
  ...list(
    "F",
    `sleep, benchmark, pg_sleep, pg_read_file, pg_ls_dir, load_file, extractvalue, updatexml, xmltype, group_concat, information_schema,
     name_const, gtid_subset, gtid_subtract, st_latfromgeohash, polygon, multipoint, geometrycollection, get_lock, release_lock, row_count,
     xp_cmdshell, xp_dirtree, xp_regread, sp_executesql, openrowset, opendatasource, fn_xe_file_target_read_file, sys_eval, sys_exec,
     dbms_pipe.receive_message, dbms_lock.sleep, utl_http.request, utl_inaddr.get_host_address, ctxsys.drithsx.sn, lo_import, lo_export,
     query_to_xml, database_to_xml, dblink, dblink_connect, load_extension, randomblob, zeroblob, writefile, readfile, is_srvrolemember,
     json_keys, lastval, pg_stat_file, sqlite_version, generate_series, make_set, to_json`,
  ),
] as readonly (readonly [string, "f" | "F"])[]);
