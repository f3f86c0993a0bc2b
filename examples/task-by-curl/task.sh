#!/bin/sh
# Sends an agent on a task and prints its result. GATEWAY is the gateway's URL, KEY a secret key.
# With the Idempotency-Key it can be sent again after a lost connection: the task runs once.
curl --silent --show-error --fail-with-body "$GATEWAY/chat" \
  --header "Authorization: Bearer $KEY" \
  --header 'Content-Type: application/json' \
  --header 'Idempotency-Key: invoices-2026-11' \
  --data '{
    "agent": "Clerk",
    "message": "Find all overdue invoices and summarise them.",
    "terminating_config": { "tool_ids": ["complete_task", "report_error"], "max_invocations": 20 }
  }'
