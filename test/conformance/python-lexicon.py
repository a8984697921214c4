"""Drives python3-lexicon of Debian as the 26 tests of its own suite do: python-lexicon.py BASE_URL TOKEN DOMAIN. Prints each step's outcome."""

import json
import sys
import traceback

from lexicon.config import ConfigResolver
from lexicon.providers.cloudflare import Provider

base_url, token, domain = sys.argv[1:4]
outcome = {}


def provider(of=domain, ttl=3600):
    options = {"provider_name": "cloudflare", "domain": of, "ttl": ttl, "cloudflare": {"auth_token": token}}
    made = Provider(ConfigResolver().with_dict(options))
    made.api_endpoint = base_url
    made.authenticate()
    return made


def step(run):
    try:
        run()
        outcome[run.__name__] = "passed"
    except Exception:
        outcome[run.__name__] = traceback.format_exc(limit=-1).strip().splitlines()[-1] or "failed"


dns = provider()
FORMS = {"name": "{0}", "full_name": "{0}." + domain, "fqdn": "{0}." + domain + "."}


def named(title, run):
    run.__name__ = title
    step(run)


def holds(rtype, name, content):
    found = dns.list_records(rtype, name)
    assert [(one["type"], one["content"]) for one in found] == [(rtype, content)], found


def authenticate():
    assert dns.domain_id is not None


def authenticate_with_another_domain():
    try:
        provider("thisisadomainidonotown.com")
    except Exception:
        return
    raise AssertionError("it is not ours")


def create_a():
    assert dns.create_record("A", "localhost", "127.0.0.1")


def create_cname():
    assert dns.create_record("CNAME", "docs", "docs.example.com")


def list_all():
    assert len(dns.list_records()) >= 2


def list_ttl():
    assert dns.create_record("TXT", f"ttl.fqdn.{domain}.", "ttlshouldbe3600")
    assert [one["ttl"] for one in dns.list_records("TXT", f"ttl.fqdn.{domain}")] == [3600]


def list_nothing():
    assert not dns.list_records("TXT", f"filter.thisdoesnotexist.{domain}")


def update_without_identifier():
    assert dns.create_record("TXT", "orig.nameonly.test", "challengetoken")
    assert dns.update_record(None, "TXT", "orig.nameonly.test", "updated")


def delete_by_identifier():
    assert dns.create_record("TXT", "delete.testid", "challengetoken")
    assert dns.delete_record(dns.list_records("TXT", "delete.testid")[0]["id"])
    assert not dns.list_records("TXT", "delete.testid")


def create_twice():
    for _ in range(2):
        assert dns.create_record("TXT", f"_acme-challenge.noop.{domain}.", "challengetoken")
    holds("TXT", f"_acme-challenge.noop.{domain}.", "challengetoken")


def pair(label):
    for content in ("challengetoken1", "challengetoken2"):
        assert dns.create_record("TXT", f"_acme-challenge.{label}.{domain}.", content)
    return f"_acme-challenge.{label}.{domain}."


def create_set():
    pair("createrecordset")


def list_set():
    assert len(dns.list_records("TXT", pair("listrecordset"))) == 2


def delete_set():
    name = pair("deleterecordset")
    assert dns.delete_record(None, "TXT", name)
    assert not dns.list_records("TXT", name)


def delete_from_set():
    name = pair("deleterecordinset")
    assert dns.delete_record(None, "TXT", name, "challengetoken1")
    holds("TXT", name, "challengetoken2")


for run in (authenticate, authenticate_with_another_domain, create_a, create_cname):
    step(run)
for form, text in FORMS.items():

    def create(label=f"_acme-challenge.{form.replace('_', '')}"):
        assert dns.create_record("TXT", text.format(label), "challengetoken")

    def list_one(label=f"random.{form.replace('_', '')}"):
        dns.create_record("TXT", text.format(label), "challengetoken")
        holds("TXT", text.format(label), "challengetoken")

    def update(label=form.replace("_", "")):
        assert dns.create_record("TXT", text.format(f"orig.{label}"), "challengetoken")
        found = dns.list_records("TXT", text.format(f"orig.{label}"))
        assert dns.update_record(found[0]["id"], "TXT", text.format(f"updated.{label}"), "challengetoken")

    def delete(label=f"delete.{form.replace('_', '')}"):
        assert dns.create_record("TXT", text.format(label), "challengetoken")
        assert dns.delete_record(None, "TXT", text.format(label), "challengetoken")
        assert not dns.list_records("TXT", text.format(label))

    for title, run in (("create", create), ("list", list_one), ("update", update), ("delete", delete)):
        named(f"{title}_by_{form}", run)
for run in (list_all, list_ttl, list_nothing, update_without_identifier, delete_by_identifier, create_twice, create_set, list_set, delete_set, delete_from_set):
    step(run)
for record in dns.list_records():
    dns.delete_record(record["id"])
print(json.dumps({"outcome": outcome, "left": dns.list_records()}))
