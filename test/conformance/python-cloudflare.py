"""Drives python3-cloudflare of Debian against a server: python-cloudflare.py BASE_URL TOKEN ACCOUNT_ID."""

import json
import sys

import CloudFlare

base_url, token, account_id = sys.argv[1:4]
cf = CloudFlare.CloudFlare(base_url=base_url, token=token, use_sessions=True)
seen = {}

zone = cf.zones.post(data={"name": "python.test", "account": {"id": account_id}, "type": "full"})
zone_id = zone["id"]
seen["zones"] = [found["name"] for found in cf.zones.get(params={"name": "python.test", "per_page": 5})]

record = cf.zones.dns_records.post(zone_id, data={"name": "www", "type": "A", "content": "192.0.2.1", "ttl": 300})
seen["created"] = [record["name"], record["content"]]
cf.zones.dns_records.patch(zone_id, record["id"], data={"content": "192.0.2.2"})
cf.zones.dns_records.put(zone_id, record["id"], data={"name": "www", "type": "A", "content": "192.0.2.3", "ttl": 120})
seen["listed"] = [(found["content"], found["ttl"]) for found in cf.zones.dns_records.get(zone_id, params={"name": "www.python.test"})]
try:
    cf.zones.dns_records.post(zone_id, data={"name": "bad", "type": "A", "content": "none", "ttl": 1})
except CloudFlare.exceptions.CloudFlareAPIError as error:
    seen["refused"] = int(error)

seen["dnssec"] = [cf.zones.dnssec.patch(zone_id, data={"status": "active"})["status"], cf.zones.dnssec.get(zone_id)["flags"]]
peer = cf.accounts.secondary_dns.peers.post(account_id, data={"name": "peer", "ip": "192.0.2.53"})
cf.zones.secondary_dns.outgoing.post(zone_id, data={"name": "python.test.", "peers": [peer["id"]]})
seen["transfers"] = cf.zones.secondary_dns.outgoing.status.get(zone_id)
cf.accounts.custom_ns.post(account_id, data={"ns_name": "ns1.python.test"})
seen["custom_ns"] = [found["ns_name"] for found in cf.accounts.custom_ns.get(account_id)]
# The client is older than the day on which this went: the server is asked as it was before.
cf.zones.dns_settings.use_apex_ns.patch(zone_id, data={"id": "use_apex_ns", "value": True})
seen["use_apex_ns"] = cf.zones.dns_settings.use_apex_ns.get(zone_id)["value"]

seen["deleted"] = cf.zones.dns_records.delete(zone_id, record["id"])["id"] == record["id"]
print(json.dumps(seen))
