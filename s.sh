API=http://127.0.0.1:36183/client/v4
call() { curl -s -X "$1" -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$API$2" ${3:+-d "$3"}; }

sleep 2
key=$(call POST "/accounts/$ACCOUNT/secondary_dns/tsigs" '{
  "name": "transfers.example.", "algo": "hmac-sha256.", "secret": "c2VjcmV0IGJldHdlZW4gdHdvIHNlcnZlcnM="}' | jq -r .result.id)

peer=$(call POST "/accounts/$ACCOUNT/secondary_dns/peers" '{
  "name": "primary", "ip": "127.0.0.1", "port": 33693, "ixfr_enable": true, "tsig_id": "'$key'"}' | jq -r .result.id)

sleep 2
zone=$(call POST /zones '{"name": "example.com", "account": {"id": "'$ACCOUNT'"}, "type": "secondary"}' | jq -r .result.id)

call POST "/zones/$zone/secondary_dns/incoming" '{"name": "example.com.", "peers": ["'$peer'"], "auto_refresh_seconds": 86400}'

sleep 2
call GET "/zones/$zone/secondary_dns/incoming" | jq .result
dig @127.0.0.1 -p 33396 example.com SOA

sleep 2
call PATCH "/zones/$zone/dns_settings" '{"secondary_overrides": true}'
record=$(call GET "/zones/$zone/dns_records?name=www.example.com&type=A" | jq -r '.result[0].id')
call PATCH "/zones/$zone/dns_records/$record" '{"proxied": true}'
call POST "/zones/$zone/dns_records" '{"type": "CNAME", "name": "example.com", "content": "shop.example.net"}'

call POST "/zones/$zone/secondary_dns/force_axfr"; sleep 1; call GET "/zones/$zone/secondary_dns/incoming"; dig +short @127.0.0.1 -p 33396 www.example.com A; call PATCH "/zones/$zone" '{"type": "full"}' | jq .result.type
