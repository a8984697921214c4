/*
 * Asks libmodsecurity which rules apply to requests: libmodsecurity ROUNDS FILE..., FILE being files of rules. Each line of standard input
 * is a request: method, version, URI, body and then names and values of header fields, in hexadecimal, with spaces between and `-` for an empty
 * one. Writes a line for each with the ids of the rules that were logged. With ROUNDS above 0 it then asks about all of them as many times, and
 * writes the microseconds of CPU for one.
 */
#include <modsecurity/modsecurity.h>
#include <modsecurity/rules_set.h>
#include <modsecurity/transaction.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FIELDS_MAX 512
#define REQUESTS_MAX 20000

typedef struct {
  int count;
  char *text[FIELDS_MAX];
  size_t length[FIELDS_MAX];
} Request;

static int is_quiet = 0;

static void logged(void *data, const void *message) {
  (void)data;
  if (is_quiet) return;
  const char *found = strstr((const char *)message, "[id \"");
  if (found != NULL) printf("%ld ", strtol(found + 5, NULL, 10));
}

static int nibble(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static Request *read_request(char *line) {
  Request *request = calloc(1, sizeof(Request));
  for (char *word = strtok(line, " \n"); word != NULL && request->count < FIELDS_MAX; word = strtok(NULL, " \n")) {
    size_t length = strcmp(word, "-") == 0 ? 0 : strlen(word) / 2;
    char *text = calloc(length + 1, 1);
    for (size_t i = 0; i < length; i++) text[i] = (char)(nibble(word[2 * i]) << 4 | nibble(word[2 * i + 1]));
    request->text[request->count] = text;
    request->length[request->count++] = length;
  }
  return request;
}

static void ask(ModSecurity *modsecurity, RulesSet *rules, const Request *r) {
  Transaction *t = msc_new_transaction(modsecurity, rules, NULL);
  msc_process_connection(t, "127.0.0.1", 40000, "127.0.0.1", 80);
  msc_process_uri(t, r->text[2], r->text[0], r->text[1]);
  for (int i = 4; i + 1 < r->count; i += 2)
    msc_add_n_request_header(t, (unsigned char *)r->text[i], r->length[i], (unsigned char *)r->text[i + 1], r->length[i + 1]);
  msc_process_request_headers(t);
  if (r->length[3] > 0) msc_append_request_body(t, (unsigned char *)r->text[3], r->length[3]);
  msc_process_request_body(t);
  msc_transaction_cleanup(t);
}

int main(int argc, char **argv) {
  ModSecurity *modsecurity = msc_init();
  RulesSet *rules = msc_create_rules_set();
  const char *error = NULL;
  static Request *requests[REQUESTS_MAX];
  int count = 0;
  char *line = NULL;
  size_t room = 0;
  if (argc < 3) return 2;
  msc_set_log_cb(modsecurity, logged);
  for (int i = 2; i < argc; i++) {
    if (msc_rules_add_file(rules, argv[i], &error) < 0) {
      fprintf(stderr, "%s: %s\n", argv[i], error);
      return 1;
    }
  }
  while (count < REQUESTS_MAX && getline(&line, &room, stdin) > 0) {
    requests[count] = read_request(line);
    if (requests[count]->count < 4) return 2;
    ask(modsecurity, rules, requests[count++]);
    putchar('\n');
  }
  long rounds = strtol(argv[1], NULL, 10);
  if (rounds > 0) {
    struct rusage before, after;
    is_quiet = 1;
    getrusage(RUSAGE_SELF, &before);
    for (long round = 0; round < rounds; round++)
      for (int i = 0; i < count; i++) ask(modsecurity, rules, requests[i]);
    getrusage(RUSAGE_SELF, &after);
    double micros = (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1e6 +
                    (after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    printf("%.1f\n", micros / (rounds * (double)count));
  }
  return 0;
}
