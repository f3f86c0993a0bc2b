import type { Tables } from './tables.ts';

// These are records, so that the compiler reports a missing column.
const WHOLE: { readonly [T in Known]: Readonly<Record<keyof Tables[T], 1>> } = {
  spaces: { id: 1, name: 1, description: 1, metadata: 1, next_seq: 1, hops: 1, created_at: 1 },
  entities: { id: 1, kind: 1, external_id: 1, display_name: 1, metadata: 1, created_at: 1, deleted_at: 1 },
  memberships: { space_id: 1, entity_id: 1, role: 1, joined_at: 1, left_at: 1, last_seen_seq: 1 },
  messages: {
    id: 1,
    space_id: 1,
    seq: 1,
    entity_id: 1,
    kind: 1,
    content: 1,
    reply_to: 1,
    metadata: 1,
    call_id: 1,
    call: 1,
    client_message_id: 1,
    status: 1,
    run_id: 1,
    created_at: 1,
    updated_at: 1,
  },
  inbox_events: {
    id: 1,
    agent_id: 1,
    event_id: 1,
    type: 1,
    priority: 1,
    payload: 1,
    status: 1,
    attempts: 1,
    available_at: 1,
    run_id: 1,
    error: 1,
    created_at: 1,
  },
  runs: {
    id: 1,
    thread_id: 1,
    trigger: 1,
    status: 1,
    stop: 1,
    cycle_no: 1,
    usage: 1,
    epoch: 1,
    config_version: 1,
    attempts: 1,
    taken_seq: 1,
    owner: 1,
    attempt: 1,
    retry_of: 1,
    takeovers: 1,
    cancel_requested_at: 1,
    active_in: 1,
    created_at: 1,
    ended_at: 1,
    settings: 1,
    answer: 1,
  },
  calls: {
    id: 1,
    run_id: 1,
    step: 1,
    index: 1,
    tool_name: 1,
    input: 1,
    status: 1,
    outcome: 1,
    outcome_status: 1,
    idempotency_key: 1,
    provider_call_id: 1,
    created_at: 1,
    settled_at: 1,
  },
  goals: { agent_id: 1, key: 1, description: 1, status: 1, priority: 1, created_at: 1, updated_at: 1 },
  memories: { agent_id: 1, key: 1, value: 1, created_at: 1, updated_at: 1 },
  plans: {
    id: 1,
    agent_id: 1,
    key: 1,
    name: 1,
    instruction: 1,
    cron: 1,
    at: 1,
    time_zone: 1,
    misfire: 1,
    next_at: 1,
    last_at: 1,
    created_at: 1,
    updated_at: 1,
  },
  agents: {
    id: 1,
    entity_id: 1,
    name: 1,
    config: 1,
    config_version: 1,
    status: 1,
    active_space_id: 1,
    last_error: 1,
    tag: 1,
    created_at: 1,
    updated_at: 1,
  },
  contexts: { id: 1, agent_id: 1, owner_id: 1, metadata: 1, created_at: 1, is_brief: 1, used_at: 1, is_given: 1 },
  pending_calls: {
    call_id: 1,
    agent_id: 1,
    run_id: 1,
    space_id: 1,
    tool_name: 1,
    kind: 1,
    input: 1,
    display: 1,
    answered_by: 1,
    result_schema: 1,
    status: 1,
    result: 1,
    result_hash: 1,
    resolved_by: 1,
    late_answers: 1,
    expires_at: 1,
    created_at: 1,
    resolved_at: 1,
    offered_at: 1,
    offers: 1,
    claims: 1,
    claim_hash: 1,
    claimed_by: 1,
    claim_ms: 1,
    claimed_until: 1,
    announce_at: 1,
    announce_attempts: 1,
    rounds: 1,
    resume_state: 1,
    during_call: 1,
    asked_definition: 1,
  },
  api_keys: { id: 1, name: 1, kind: 1, hash: 1, prefix: 1, scopes: 1, created_at: 1, revoked_at: 1 },
};

type Known =
  | 'agents'
  | 'contexts'
  | 'pending_calls'
  | 'calls'
  | 'spaces'
  | 'entities'
  | 'memberships'
  | 'messages'
  | 'inbox_events'
  | 'runs'
  | 'goals'
  | 'memories'
  | 'plans'
  | 'api_keys';

/** The columns of complete rows, for statements that are planned once: see statement.ts. */
export const COLUMNS: { readonly [T in Known]: readonly (keyof Tables[T])[] } = Object.fromEntries(
  Object.entries(WHOLE).map(([table, columns]) => [table, Object.keys(columns)]),
) as never;
