import type { Tables } from '../../ports/store/schema/tables.ts';

const ID = 'An id. It says which row it is, and stays as a receipt.';
const FIXED = 'One of a few words of the gateway, or a date.';
const HASH = 'A hash of something that no person wrote.';
const SECRET = 'A secret of the gateway.';
const PROCESS = 'The name of a process.';
const OPERATOR = 'The operator chooses it.';
const PATH = 'The row gets another key if it was written in a run that took the texts, or if the key has a copy.';

/**
 * Every text column of the database: what an erasure does with it. A test compares this list with the schema, so that a new column
 * cannot be forgotten.
 *
 * - `json`, `text`: copies of erased texts are replaced in it, wherever they are.
 * - `own`: the text is replaced as a whole, in the rows of the person, space, conversation or agent.
 * - anything else is the reason why it holds no text of a person.
 */
export const TEXT_COLUMNS: { readonly [T in keyof Tables]: Readonly<Record<string, string>> } = {
  agent_failures: { space_id: ID, entity_id: ID, run_id: ID, text: 'text' },
  agent_tools: { agent_id: ID, reference: 'The operator chooses the names of tools.' },
  agent_versions: { agent_id: ID, config: 'own' },
  agents: {
    ...{ id: ID, project_id: ID, entity_id: ID, active_space_id: ID, status: FIXED, tag: SECRET },
    ...{ name: 'own', config: 'own', last_error: 'json' },
  },
  api_keys: {
    ...{ id: ID, project_id: ID, kind: FIXED, hash: HASH, prefix: SECRET, scopes: FIXED },
    ...{ name: 'The operator chooses it.', limits: 'Ids of agents and spaces, paths and numbers.' },
  },
  artifacts: {
    ...{ id: ID, project_id: ID, agent_id: ID, run_id: ID, space_id: ID, entity_id: ID, thread_id: ID },
    ...{ media_type: FIXED, name: 'own' },
  },
  audit: {
    ...{ id: ID, project_id: ID, key_id: ID, session_id: ID, entity_id: ID, request_id: ID, subject_id: ID },
    ...{ action: FIXED, subject_kind: FIXED, address: 'own' },
  },
  calls: {
    ...{
      id: ID,
      thread_id: ID,
      agent_id: ID,
      run_id: ID,
      space_id: ID,
      during_call: ID,
      answered_by: ID,
      grant_id: ID,
    },
    ...{ idempotency_key: ID, provider_call_id: ID, answer_hash: 'own', claim_hash: HASH, asked_definition: HASH },
    ...{ status: FIXED, outcome_status: FIXED, wait_kind: FIXED, wait_status: FIXED, node: OPERATOR },
    ...{
      tool_name: 'The operator or the server of the tool chooses it.',
      answerers: OPERATOR,
      answer_schema: OPERATOR,
    },
    ...{ input: 'json', outcome: 'json', display: 'json', answer: 'json', late_answers: 'json' },
    ...{ resume_state: 'own', claimed_by: 'The name of a program.' },
  },
  contexts: { id: ID, agent_id: ID, owner_id: ID, metadata: 'own' },
  entities: {
    ...{ id: ID, project_id: ID, kind: FIXED, display_name: 'own', external_id: 'own', metadata: 'own' },
    old_external_id: 'It is empty: a constraint of SQLite keeps the column.',
  },
  erasure_prints: { erasure_id: ID, part: FIXED, prints: 'The row is deleted when the erasure is done.' },
  erasure_runs: { erasure_id: ID, thread_id: ID, run_id: ID },
  erasures: {
    ...{ id: ID, project_id: ID, kind: FIXED, subject_id: ID, status: FIXED, phase: FIXED, owner: PROCESS },
    ...{ cursor: 'The name of a table.', error: 'A message of the database.' },
  },
  evaluation_cases: { id: ID, evaluation_id: ID, run_id: ID, name: 'text', input: 'json', expected: 'json' },
  evaluation_reports: { id: ID, evaluation_id: ID, version: OPERATOR, scores: 'Names of scores, and numbers.' },
  evaluation_samples: {
    ...{ report_id: ID, run_id: ID, scores: 'Names of scores, and numbers.' },
    ...{ case_name: 'text', details: 'json' },
  },
  evaluations: { id: ID, project_id: ID, name: OPERATOR },
  file_undo: { thread_id: ID, path: PATH, content: 'json', changed_by: 'json' },
  files: { thread_id: ID, path: PATH, content: 'json', changed_by: 'json' },
  forks: {
    ...{ thread_id: ID, run_id: ID, origin_run_id: ID, origin_thread_id: ID, created_by: ID, origin_kind: FIXED },
    ...{ mode: OPERATOR, config: OPERATOR, changes: 'json', situation: 'json' },
  },
  goals: { agent_id: ID, key: PATH, description: 'json', status: FIXED },
  grants: {
    ...{ id: ID, agent_id: ID, call_id: ID, run_id: ID, thread_id: ID, space_id: ID, granted_by: ID, ended_by: ID },
    ...{ tool_name: OPERATOR, lasts: FIXED, reach: FIXED, end_reason: FIXED, definition: HASH, conditions: 'own' },
  },
  inbox_events: {
    ...{ thread_id: ID, event_id: 'The id of an event, which must not be delivered twice.', run_id: ID },
    ...{ redriven_from: ID, type: FIXED, status: FIXED, payload: 'json', error: 'json' },
  },
  key_rates: { key_id: ID, used: 'Numbers.' },
  mcp_credentials: { server_key: HASH, kind: FIXED, sealed: SECRET, state_hash: HASH },
  mcp_tools: {
    ...{ id: ID, project_id: ID, server_key: HASH, fingerprint: HASH, held_fingerprint: HASH, approved_by: ID },
    ...{ server_name: OPERATOR, tool_name: OPERATOR, definition: OPERATOR, held_definition: OPERATOR },
  },
  memberships: { space_id: ID, entity_id: ID, role: OPERATOR },
  memories: { agent_id: ID, key: PATH, value: 'json' },
  messages: {
    ...{ id: ID, space_id: ID, entity_id: ID, reply_to: ID, call_id: ID, run_id: ID, kind: FIXED, status: FIXED },
    ...{ content: 'json', metadata: 'json', call: 'json', attachments: 'json', client_message_id: 'own' },
  },
  nested_usage: { run_id: ID },
  notifications: {
    ...{ id: ID, project_id: ID, event_id: ID, agent_id: ID, run_id: ID, call_id: ID, scope_id: ID, entity_id: ID },
    ...{ target: OPERATOR, event: FIXED, scope: FIXED, status: FIXED },
    error: 'A message of the gateway, which names a host at most. Texts of the target are not stored.',
  },
  notify_events: {
    ...{ id: ID, agent_id: ID, run_id: ID, call_id: ID, scope_id: ID },
    ...{ event: FIXED, scope: FIXED },
  },
  plans: {
    ...{ id: ID, agent_id: ID, key: PATH, name: 'json', instruction: 'json' },
    ...{ cron: FIXED, time_zone: FIXED, misfire: FIXED, set_by: FIXED },
  },
  projects: { id: ID, name: OPERATOR, spend: 'Numbers.' },
  request_texts: { hash: HASH, text: 'json' },
  runs: {
    ...{ id: ID, thread_id: ID, turn_id: ID, retry_of: ID, active_in: ID, entity_id: ID, owner: PROCESS },
    ...{ status: FIXED, mode: OPERATOR, usage: 'Numbers.', takeovers: 'Times.', trigger: 'Ids of events.' },
    ...{ stop: 'json', settings: 'json', answer: 'json' },
  },
  search_changes: { kind: FIXED, source_id: ID },
  // Triggers remove an entry when its text is changed or deleted.
  search_entries: { kind: FIXED, source_id: ID, call_id: ID, words: 'own' },
  search_spaces: { space_id: ID },
  search_state: { key: FIXED, value: 'Numbers.' },
  sessions: { id: ID, hash: HASH, scopes: FIXED, entity_id: ID, key_id: ID, maker_session_id: ID },
  settings: { key: FIXED, value: SECRET },
  sign_in_links: { id: ID, hash: HASH, scopes: FIXED, entity_id: ID, key_id: ID, maker_session_id: ID },
  spaces: { id: ID, project_id: ID, name: 'own', description: 'own', metadata: 'own' },
  spend_reached: { scope: FIXED, id: ID, day: FIXED, run_id: ID },
  stream_events: { stream: ID, type: FIXED, payload: 'json' },
  streams: { id: ID },
  sub_agent_turns: { run_id: ID, call_id: ID, steps: 'json' },
  threads: { id: ID, kind: FIXED, agent_id: ID, lease_owner: PROCESS, state: 'json' },
  tools: { id: ID, project_id: ID, name: OPERATOR, config: OPERATOR },
  transcript_entries: { thread_id: ID, run_id: ID, origin_run_id: ID, kind: FIXED, payload: 'json' },
  turn_requests: {
    ...{ run_id: ID, context_id: ID, caller: ID },
    ...{ idempotency_key: 'own', body_hash: 'own', conversation_hash: 'own' },
  },
  usage: { day: FIXED, agent_id: ID, model: OPERATOR, entity_id: ID, kind: FIXED, currency: FIXED },
  usage_requests: {
    ...{ id: ID, run_id: ID, day: FIXED, agent_id: ID, model: OPERATOR, entity_id: ID, kind: FIXED, currency: FIXED },
  },
};

const ERASED_HOW: ReadonlySet<string> = new Set(['json', 'text', 'own']);

/** The tables that hold texts of people, and where their hashes are stored during an erasure. */
export const ERASED_TABLES: readonly (keyof Tables)[] = [
  ...(Object.keys(TEXT_COLUMNS) as (keyof Tables)[]).filter((table) =>
    Object.values(TEXT_COLUMNS[table]).some((how) => ERASED_HOW.has(how)),
  ),
  'erasure_prints',
];
