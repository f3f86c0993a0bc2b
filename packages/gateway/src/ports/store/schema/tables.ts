import type { Generated } from 'kysely';

/**
 * The rows of the store, the same in every database. Times are milliseconds since the epoch. `Json` columns hold JSON text:
 * it keeps what a database's own text would refuse (U+0000, lone surrogates), and reads back the same everywhere.
 */
export interface Tables {
  projects: ProjectRow;
  entities: EntityRow;
  agents: AgentRow;
  threads: ThreadRow;
  contexts: ConversationRow;
  turn_requests: TurnRequestRow;
  spaces: SpaceRow;
  memberships: MembershipRow;
  agent_failures: AgentFailureRow;
  messages: MessageRow;
  inbox_events: InboxEventRow;
  runs: RunRow;
  nested_usage: NestedUsageRow;
  sub_agent_turns: SubAgentTurnRow;
  artifacts: ArtifactRow;
  transcript_entries: TranscriptEntryRow;
  calls: CallRow;
  goals: GoalRow;
  memories: MemoryRow;
  plans: PlanRow;
  tools: ToolRow;
  agent_tools: AgentToolRow;
  agent_versions: AgentVersionRow;
  streams: StreamRow;
  stream_events: StreamEventRow;
  api_keys: ApiKeyRow;
  key_rates: KeyRateRow;
  settings: SettingRow;
  mcp_tools: McpToolRow;
  mcp_credentials: McpCredentialRow;
  sessions: SessionRow;
  sign_in_links: SignInLinkRow;
  request_texts: RequestTextRow;
  files: FileRow;
  file_undo: FileUndoRow;
  usage: UsageRow;
  usage_requests: UsageRequestRow;
  spend_reached: SpendReachedRow;
  audit: AuditRow;
  forks: ForkRow;
  erasures: ErasureRow;
  erasure_runs: ErasureRunRow;
  erasure_prints: ErasurePrintsRow;
  notify_events: NotifyEventRow;
  notifications: NotificationRow;
  grants: GrantRow;
  evaluations: EvaluationRow;
  evaluation_cases: EvaluationCaseRow;
  evaluation_reports: EvaluationReportRow;
  evaluation_samples: EvaluationSampleRow;
  search_entries: SearchEntryRow;
  search_changes: SearchChangeRow;
  search_spaces: SearchSpaceRow;
  search_state: SearchStateRow;
}

/** JSON text: see json.ts. */
export type Json = string;

export type EntityKind = 'human' | 'agent' | 'service';

/** A customer of the gateway, with everything that belongs to it. Rows that name no project are reached through one that does. */
export interface ProjectRow {
  id: string;
  name: string;
  /** Its spend limits: see config/spend-limits.ts. */
  spend: Json | null;
  created_at: number;
  /** Its id is never used again: rows of what was deleted in it stay, such as runs. */
  deleted_at: number | null;
}

export interface EntityRow {
  id: string;
  project_id: string;
  kind: EntityKind;
  external_id: string | null;
  display_name: string;
  metadata: Json;
  created_at: number;
  /** The entity's messages stay, with a tombstone as their author. */
  deleted_at: number | null;
  /** The number of spaces that it has ever joined: the `number` of its newest membership. */
  spaces_joined: number;
}

export type AgentStatus = 'active' | 'paused' | 'invalid' | 'deleted';

export interface AgentRow {
  id: string;
  project_id: string;
  entity_id: string;
  name: string;
  config: Json;
  config_version: number;
  status: AgentStatus;
  active_space_id: string | null;
  last_error: Json | null;
  /** An unguessable tag for the frames in which the gateway itself addresses the model. */
  tag: string;
  created_at: number;
  updated_at: number;
}

/** What can be woken: an agent, or one of its contexts. The thread has the same id. */
export interface ThreadRow {
  id: string;
  kind: 'agent' | 'context';
  agent_id: string;
  lease_owner: string | null;
  lease_until: number;
  /** Raised by every claim. A worker with an older epoch can no longer write. */
  epoch: number;
  /** The latest session snapshot and the entry it was taken after. */
  state: Json | null;
  /** 1: a conversation that continues a run from one of its steps, or a draft: see `ForkRow`. */
  is_fork: Generated<number>;
}

/**
 * A conversation that continues a run from one of its steps, or a draft: a conversation with an agent whose configuration is not saved. It
 * has the id of the thread.
 */
export interface ForkRow {
  thread_id: string;
  /** Its first run. */
  run_id: string;
  /** The run that it was forked from, and the thread of that run. Of a draft: the run whose message it answers again, or empty. */
  origin_run_id: string;
  origin_thread_id: string;
  /** What that thread is. The fork of an agent's run presents the agent's spaces, goals, memories and plans as they were. */
  origin_kind: 'agent' | 'context';
  /** The first step that is not copied. 0: a draft. */
  at_step: number;
  /** The number of the last row that was copied. */
  base_seq: number;
  /** The number of the first run: that of the original, because models know calls by it. */
  number: number;
  /** The mode of the original, if its agent has modes. */
  mode: string | null;
  config_version: number;
  /** The configuration of the original, with the changes. Of a draft: the saved configuration, with the changes. */
  config: Json;
  /** What was changed, as it was asked for. */
  changes: Json;
  /** What the agent knew about itself at that step. Null for the fork of a conversation. */
  situation: Json | null;
  /** The time of that step: messages of spaces that came later do not exist for the fork. */
  as_of: number;
  /** Who made it: a key or a person. */
  created_by: string | null;
  created_at: number;
}

/** A conversation of the chat endpoints. */
export interface ConversationRow {
  id: string;
  agent_id: string;
  /** The entity that may use it with its token. Null: only keys may. */
  owner_id: string | null;
  metadata: Json;
  created_at: number;
  /** 1: made for a single call or for an answer that is not saved, and so deleted sooner. */
  is_brief: 0 | 1;
  /** The last time it was known to be in use. The sweep updates it. */
  used_at: number;
  /** 1: a key gave it to its owner, who need not share a space with the agent. */
  is_given: 0 | 1;
}

/** A request for a turn. If it is sent again, it is recognised by this row. */
interface TurnRequestRow {
  run_id: string;
  context_id: string;
  /** The caller that sent it. Idempotency keys of two callers never collide. */
  caller: string;
  idempotency_key: string | null;
  body_hash: string;
  /** The hash of the whole conversation, for clients that send all of it. */
  conversation_hash: string | null;
  created_at: number;
}

export interface SpaceRow {
  id: string;
  project_id: string;
  name: string;
  description: string;
  metadata: Json;
  /** The `seq` of the next message. */
  next_seq: number;
  /** Messages by agents since the last one by a person. */
  hops: number;
  created_at: number;
  /** Its messages stay, without their texts. */
  deleted_at: number | null;
  /** Since when it takes no new messages. Null if it does. */
  archived_at: number | null;
}

export interface MembershipRow {
  space_id: string;
  entity_id: string;
  role: string;
  joined_at: number;
  left_at: number | null;
  last_seen_seq: number;
  /** The number by which the entity knows the space: 1 for the first that it joined. It is kept when it leaves, and never used again. */
  number: number | null;
}

/** The last failure of an agent that was shown to the people of a space. */
export interface AgentFailureRow {
  space_id: string;
  entity_id: string;
  run_id: string;
  text: string;
  retry_at: number | null;
  /** The number of the newest message at the time of the failure. */
  after_seq: number;
  failed_at: number;
}

export type MessageStatus = 'running' | 'complete' | 'error' | 'requires_action' | 'expired' | 'cancelled';

export interface MessageRow {
  id: string;
  space_id: string;
  seq: number;
  entity_id: string;
  kind: 'text' | 'tool';
  content: Json;
  reply_to: string | null;
  metadata: Json;
  call_id: string | null;
  /** What its card shows about a call that waits, or waited, for an answer. */
  call: Json | null;
  client_message_id: string | null;
  status: MessageStatus;
  run_id: string | null;
  created_at: number;
  updated_at: number;
  /** The files that were attached to it, as a list of `Attachment`. */
  attachments: Json | null;
}

export type InboxEventType = 'space_message' | 'tool_result' | 'plan' | 'service' | 'chat' | 'command';
export type InboxStatus = 'pending' | 'claimed' | 'done' | 'dead' | 'withheld';

export interface InboxEventRow {
  id: Generated<number>;
  thread_id: string;
  /** Unique per thread: the same event is delivered once, however often it is pushed. */
  event_id: string;
  type: InboxEventType;
  priority: number;
  payload: Json;
  status: InboxStatus;
  attempts: number;
  available_at: number;
  run_id: string | null;
  error: Json | null;
  created_at: number;
  /** Of an event that was redriven: the run that failed before. The next run is a further attempt of it. */
  redriven_from: Generated<string | null>;
}

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled';

export interface RunRow {
  id: string;
  thread_id: string;
  /** The run that began the turn: its own id, or that of an earlier run if this one continues a turn with answers. */
  turn_id: string;
  trigger: Json;
  status: RunStatus;
  stop: Json | null;
  number: number;
  usage: Json | null;
  epoch: number;
  config_version: number;
  /** Takeovers from workers that died or stalled, without progress in between. */
  attempts: number;
  /** The last entry at the last takeover that is not the start of a call: a later one is progress. */
  taken_seq: number;
  /** The worker that runs it. Null for runs of earlier versions. */
  owner: string | null;
  /** How often its events have been tried, including this run. */
  attempt: number;
  /** The run of the previous attempt. */
  retry_of: string | null;
  /** The times at which another worker continued it, as a list. */
  takeovers: Json | null;
  /** When a cancel was requested. */
  cancel_requested_at: number | null;
  /** The space that was sent `agent.active` and not yet `agent.inactive`. */
  active_in: string | null;
  created_at: number;
  ended_at: number | null;
  /** The mode that the agent's definition chose for it. */
  mode: string | null;
  /** What a request in a conversation asked for beyond the agent's configuration: see domain/conversations/turn-settings.ts. */
  settings: Json | null;
  /** The answer of a run whose messages were not saved. All others are read from the transcript. */
  answer: Json | null;
  /** The person whose message woke it, or the caller of the conversation. */
  entity_id: string | null;
}

/** A file that a tool made or a person uploaded. Its bytes are a file with the same name. */
interface ArtifactRow {
  id: string;
  /** Null for an upload, as is the run. */
  agent_id: string | null;
  run_id: string | null;
  /** The space that saw the call or the message: its members may read the artifact. */
  space_id: string | null;
  project_id: Generated<string>;
  /** Who uploaded it. */
  entity_id: string | null;
  /** The conversation that it was attached to. An upload without this and without a space is deleted after a day. */
  thread_id: string | null;
  /** The name that the file had for the person who uploaded it. */
  name: string | null;
  media_type: string;
  bytes: number;
  created_at: number;
}

/** What the sub-agents of a run cost. */
interface NestedUsageRow {
  run_id: string;
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  /** 1: a part of it is estimated. */
  estimated: 0 | 1;
}

/** Requests to models, added up. */
export interface UsageRow {
  /** `2026-01-31`, in UTC. */
  day: string;
  agent_id: string;
  /** The provider's name of the model. */
  model: string;
  /** The person whose message woke the run, or the caller of a conversation. Empty if there is none. */
  entity_id: string;
  /** What made the request: see domain/usage/usage-row.ts. */
  kind: string;
  currency: string;
  requests: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  cost: number;
  /** How many of the requests had no price. */
  unpriced: number;
  /** How many of the requests had no count of the provider. */
  estimated: number;
}

/** A request that is not part of the sums yet: see domain/usage/fold-usage.ts. */
export interface UsageRequestRow extends UsageRow {
  id: string;
  run_id: string;
  /** 1: it was sent, or is about to be, and its tokens and cost are an estimate. */
  reserved: 0 | 1;
  created_at: number;
}

/** The day on which a spend limit was last reached. */
interface SpendReachedRow {
  scope: 'agent' | 'person' | 'project';
  id: string;
  day: string;
  /** The limit. */
  amount: number;
  /** The run that it stopped. */
  run_id: string;
}

/** What a sub-agent did in a call of a run. */
interface SubAgentTurnRow {
  run_id: string;
  call_id: string;
  steps: Json;
  created_at: number;
}

export interface TranscriptEntryRow {
  thread_id: string;
  seq: number;
  run_id: string;
  kind: string;
  payload: Json;
  created_at: number;
  /** Of a row that was copied into a fork: the run that wrote it. `run_id` is then that of the fork, or the thread of the fork. */
  origin_run_id: string | null;
}

export type WaitStatus = 'pending' | 'resolved' | 'expired' | 'cancelled';

/** What a call waits for: its result, approval, or input that its tool asks for. */
export type WaitKind = 'result' | 'approval' | 'input';

/**
 * A call, from the reply that asked for it to its end. What it waits for, who may answer and what they answered are columns of the same
 * row: see `WaitColumns`. A question that a tool asks during its call is a separate row, with `during_call`.
 */
export interface CallRow extends WaitColumns {
  id: string;
  thread_id: string;
  agent_id: string;
  /** The run that planned it. */
  run_id: string;
  step: number;
  index: number;
  tool_name: string;
  /** As the model wrote it. Once the call waits: as its tool gets it. */
  input: Json;
  status: 'planned' | 'started' | 'settled' | 'pending';
  outcome: Json | null;
  /** How the call stands, in one word: see domain/calls/call-status.ts. Null until it waits or ends, and while it runs with an answer. */
  outcome_status: 'waiting' | 'ok' | 'denied' | 'expired' | 'error' | 'unknown' | 'cancelled' | 'skipped' | null;
  idempotency_key: string;
  provider_call_id: string | null;
  created_at: number;
  settled_at: number | null;
  /** The call that is open while it asks this. The question ends with that call. */
  during_call: string | null;
  /** The grant that let it run without waiting. */
  grant_id: string | null;
}

/**
 * How a call waits or waited. A call may wait several times: for approval, then for input as often as its tool asks, then for its
 * result. The columns describe the last time. `wait_kind` is null for a call that has never waited.
 */
export interface WaitColumns {
  wait_kind: WaitKind | null;
  wait_status: WaitStatus | null;
  /** When it began to wait, the first time. */
  waiting_since: number | null;
  space_id: string | null;
  display: Json | null;
  /** Who may answer, and the schema of an answer, as configured when the call was made. */
  answerers: Json | null;
  answer_schema: Json | null;
  expires_at: number | null;
  answer: Json | null;
  answer_hash: string | null;
  answered_by: string | null;
  /** When it was answered, expired or was cancelled. */
  answered_at: number | null;
  /** Answers that came after the call had ended. They are kept for operators. */
  late_answers: Json | null;
  /** When the call was last offered to workers. Null for calls that are not jobs. */
  offered_at: number | null;
  /** How often it was offered. Each offer is one message to the webhook. */
  offers: Generated<number>;
  claims: Generated<number>;
  /** SHA-256 of the newest claim's token. It stays when the claim lapses, until another worker claims the job. */
  claim_hash: string | null;
  /** The name that the worker gave. */
  claimed_by: string | null;
  /** How long the claim lasts after each heartbeat. */
  claim_ms: number | null;
  claimed_until: number | null;
  /** When the webhook is tried next. Null if there is nothing to announce. */
  announce_at: number | null;
  announce_attempts: Generated<number>;
  /** How often the call has asked for input. */
  rounds: Generated<number>;
  /** What its tool needs to continue with an answer. It is encrypted, because only the gateway may read it. */
  resume_state: string | null;
  /** The tool as it was when approval was requested: see runtime/toolset/tool-definition.ts. Null for other calls, and for those of earlier versions. */
  asked_definition: string | null;
  /** The node of the machine that asks. Null for agents that are no machines, and for calls of earlier versions. */
  node: string | null;
}

export interface GoalRow {
  agent_id: string;
  key: string;
  description: Json;
  status: string;
  priority: number;
  created_at: number;
  updated_at: number;
}

export interface MemoryRow {
  agent_id: string;
  key: string;
  value: Json;
  created_at: number;
  updated_at: number;
}

export interface PlanRow {
  id: string;
  agent_id: string;
  key: string;
  name: Json;
  instruction: Json;
  cron: string | null;
  at: number | null;
  time_zone: string;
  misfire: 'once' | 'skip';
  /** When it is due next; null once it has fired for the last time. */
  next_at: number | null;
  last_at: number | null;
  /** Null if the agent set it itself. */
  set_by: 'operator' | 'file' | null;
  created_at: number;
  updated_at: number;
}

/** The registry of custom tools. */
export interface ToolRow {
  id: string;
  project_id: string;
  name: string;
  config: Json;
  version: number;
  created_at: number;
  updated_at: number;
}

/** A tool that an agent's configuration names, by its name or id. */
interface AgentToolRow {
  agent_id: string;
  reference: string;
}

/** A configuration that an agent has or had. */
interface AgentVersionRow {
  agent_id: string;
  version: number;
  config: Json;
  created_at: number;
}

/** Counts the events of a stream. */
interface StreamRow {
  id: string;
  next_seq: number;
  /** Events up to this number were deleted by the sweep. */
  swept_seq: number;
  /** When the first remaining event was written. Null: there is none. 0: unknown. */
  oldest_at: number | null;
}

export interface StreamEventRow {
  stream: string;
  seq: number;
  type: string;
  payload: Json;
  created_at: number;
  /** How many keys had been revoked when the event was written: see streams/revocations.ts. */
  revocations: number;
}

export interface ApiKeyRow {
  id: string;
  name: string;
  kind: 'secret';
  /** SHA-256 of the key, in hexadecimal. */
  hash: string;
  /** The first characters, to tell keys apart. */
  prefix: string;
  scopes: Json;
  /** Null: the key sees all projects. */
  project_id: string | null;
  /** What else limits it: see domain/keys/key-limits.ts. */
  limits: Json | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

/** The recent requests of a key with a rate limit: see domain/keys/key-rate.ts. */
interface KeyRateRow {
  key_id: string;
  used: Json;
}

interface SettingRow {
  key: string;
  value: Json;
}

/** A tool of an MCP server, as it was approved. */
export interface McpToolRow {
  id: string;
  project_id: string;
  /** A hash of the server's address, which identifies it. */
  server_key: string;
  server_name: string;
  /** The server's name for the tool. */
  tool_name: string;
  fingerprint: string;
  definition: Json;
  /** The server's current definition, if it differs from the approved one. */
  held_fingerprint: string | null;
  held_definition: Json | null;
  /** The key that approved it. Null: it was the first definition. */
  approved_by: string | null;
  approved_at: number;
  held_at: number | null;
  /** Since when the server no longer lists it. */
  gone_at: number | null;
}

export type McpCredentialKind = 'client' | 'tokens' | 'authorization';

/** Credentials that an authorization server gave the gateway for an MCP server. */
interface McpCredentialRow {
  /** A hash of the server's address. */
  server_key: string;
  kind: McpCredentialKind;
  /** Encrypted JSON. */
  sealed: string;
  /** SHA-256 of the `state` of an authorization that was requested and not given yet. */
  state_hash: string | null;
  updated_at: number;
}

/** The rights of a signed-in person: those that these scopes allow and this person has. */
interface GrantColumns {
  scopes: Json;
  entity_id: string | null;
  /** It ends when this key is revoked. Null: no key made it. */
  key_id: string | null;
  /** It ends with this session. Null: no session made it. */
  maker_session_id: string | null;
  created_at: number;
  expires_at: number;
}

/** A browser that is signed in. The row is deleted when the session ends. */
export interface SessionRow extends GrantColumns {
  id: string;
  /** SHA-256 of the cookie, in hexadecimal. */
  hash: string;
}

/** A link that signs a browser in. The row is deleted a week after it expires. */
interface SignInLinkRow extends GrantColumns {
  id: string;
  /** SHA-256 of its code, in hexadecimal. */
  hash: string;
  used_at: number | null;
  revoked_at: number | null;
}

/** A text that was sent to models. */
interface RequestTextRow {
  /** SHA-256 of the text. */
  hash: string;
  text: Json;
  /** When a request last contained it, to the day. */
  used_at: number;
}

/** A file of an agent or of a conversation. */
export interface FileRow {
  thread_id: string;
  path: string;
  /** Its text. */
  content: Json;
  /** In bytes of UTF-8. */
  size: number;
  /** Who wrote it last: see domain/files/stored-file.ts. */
  changed_by: Json;
  changed_at: number;
}

/** A file as it was before its first change since the checkpoint of the turn, for a rewind. Without a content, there was none. */
interface FileUndoRow extends Omit<FileRow, 'content'> {
  content: Json | null;
}

/** A change that was asked for from outside, and who asked. Rows are never updated: see domain/audit. */
export interface AuditRow {
  /** Sorted by time. */
  id: string;
  at: number;
  /** The project of what was changed. */
  project_id: string;
  key_id: string | null;
  session_id: string | null;
  entity_id: string | null;
  /** The operation, as the OpenAPI document names it. */
  action: string;
  subject_kind: string | null;
  subject_id: string | null;
  /** Where the request came from. */
  address: string | null;
  request_id: string | null;
  /** The status of the response. */
  status: number;
}

export type ErasureKind = 'person' | 'space' | 'conversation' | 'agent';
export type ErasurePhase = 'collect' | 'sources' | 'threads' | 'copies' | 'files' | 'done';

/** The erasure of what a person wrote, of a space, a conversation or an agent: see domain/erasure. */
export interface ErasureRow {
  id: string;
  project_id: string;
  kind: ErasureKind;
  /** The id of what is erased. */
  subject_id: string;
  status: 'running' | 'done';
  phase: ErasurePhase;
  /** Where the phase continues after a crash. */
  cursor: Json | null;
  /** How many rows had texts that were replaced. */
  replaced: number;
  /** Why the last attempt stopped. The next one continues. */
  error: string | null;
  /** The gateway that works on it. */
  owner: string | null;
  owned_until: number;
  created_at: number;
  done_at: number | null;
}

/** A run that took texts that are erased. Deleted when the erasure is done. */
interface ErasureRunRow {
  erasure_id: string;
  thread_id: string;
  run_id: string;
}

/** Hashes of what the erased texts say, to find copies. Deleted when the erasure is done. */
interface ErasurePrintsRow {
  erasure_id: string;
  part: string;
  prints: Json;
}

/** What people are notified of: see domain/notify. */
export type NotifiedEvent = 'call.waiting' | 'call.expiring' | 'agent.failed' | 'limit.reached' | 'test';

/** An event that targets have not been looked up for yet. It is deleted when its notifications are stored. */
export interface NotifyEventRow {
  id: string;
  event: Exclude<NotifiedEvent, 'test'>;
  agent_id: string;
  run_id: string | null;
  call_id: string | null;
  /** The number of the question that the call asks, 0 if it asks none. */
  round: number;
  /** Of a limit: whose it is. */
  scope: 'agent' | 'person' | 'project' | null;
  scope_id: string | null;
  due_at: number;
}

/** One message to one target. It has no texts: they are made from the call when it is sent. */
export interface NotificationRow {
  /** Sent along, so that receivers can drop repetitions. */
  id: string;
  project_id: string;
  /** The name in the configuration. */
  target: string;
  event_id: string;
  event: NotifiedEvent;
  agent_id: string | null;
  run_id: string | null;
  call_id: string | null;
  round: number;
  scope: NotifyEventRow['scope'];
  scope_id: string | null;
  /** The person whom its link acts for. */
  entity_id: string | null;
  /** `obsolete`: what it was about ended before it could be sent. */
  status: 'pending' | 'sent' | 'failed' | 'obsolete';
  attempts: number;
  /** When it is sent, or sent again if the gateway that sends it dies. Null if it is over. */
  next_at: number | null;
  /** Why the last attempt failed, in our words: no text of the target. */
  error: string | null;
  created_at: number;
  sent_at: number | null;
  link_expires_at: number | null;
  link_used_at: number | null;
}

/** An approval that was given in advance, with the approval of one call: see domain/grants. */
export interface GrantRow {
  /** Sorted by time. */
  id: string;
  agent_id: string;
  tool_name: string;
  lasts: 'run' | 'hour' | 'always';
  /** What the input has to be like: see domain/grants/condition.ts. */
  conditions: Json;
  /** The tool as it was: `asked_definition` of the call. */
  definition: string;
  /** Which calls of the agent: all, or those in the same thread and space as the call. */
  reach: 'agent' | 'thread';
  /** The call that was approved with it, and its run, its thread and its space. */
  call_id: string;
  run_id: string;
  thread_id: string;
  space_id: string | null;
  /** An entity, or `key:` and the id of a key. */
  granted_by: string;
  created_at: number;
  /** Set for one hour. A grant for a run ends with the run. */
  expires_at: number | null;
  ended_at: number | null;
  /** That it has expired, or its run has ended, is stored when a call looks for it. */
  end_reason: 'revoked' | 'expired' | 'run_ended' | 'tool_changed' | 'tool_deleted' | 'agent_deleted' | null;
  /** Who revoked it, in the form of `granted_by`. */
  ended_by: string | null;
  uses: Generated<number>;
  last_used_at: number | null;
}

/** Cases and reports that belong together. */
export interface EvaluationRow {
  id: string;
  project_id: string;
  /** Unique in the project. */
  name: string;
  created_at: number;
}

/** A recorded run as a task with its expected answer. The run is kept as long as the case. */
export interface EvaluationCaseRow {
  id: string;
  evaluation_id: string;
  /** Unique in the evaluation, unless a part of it was erased. */
  name: string;
  /** What was asked, as text. */
  input: Json;
  expected: Json;
  /** At most one case of an evaluation has the run. */
  run_id: string;
  created_at: number;
}

/** The results of one version. */
export interface EvaluationReportRow {
  id: string;
  evaluation_id: string;
  /** What was evaluated, in the words of the sender. */
  version: string;
  /** Of each score: its mean over the cases, and the interval. */
  scores: Json;
  /** How many samples there are, and how many of them failed. */
  samples: number;
  failed: number;
  /** The sums over all samples. Null: not known of any. */
  tokens: number | null;
  cost: number | null;
  created_at: number;
}

/** One run of one case. */
export interface EvaluationSampleRow {
  report_id: string;
  /** Its place in the report. */
  number: number;
  case_name: string;
  /** Counts from 1 for each case. */
  sample: number;
  /** The values of the scores, by name. */
  scores: Json;
  failed: 0 | 1;
  ms: number;
  tokens: number | null;
  cost: number | null;
  /** Its run, if a gateway ran it. */
  run_id: string | null;
  /** The texts: response, error, reasons of the scores, calls. Null once its run was deleted. */
  details: Json | null;
}

export type SearchKind = 'message' | 'input' | 'output' | 'error';

/** A text that can be found. The text itself is only in its source: see domain/search. */
export interface SearchEntryRow {
  /** The time of the text in milliseconds, times 1,024, plus a number that makes it unique. */
  id: number;
  kind: SearchKind;
  /** The message, or the run. */
  source_id: string;
  /** Of the input, output or error of a call. */
  call_id: string | null;
  /** Of a text in a conversation: the number of its row in the transcript. */
  seq: number | null;
  /** The words in their order, and what limits searches: see ports/store/search-index.ts. */
  words: string;
}

/** A source whose texts have changed since they were added to the index. */
interface SearchChangeRow {
  kind: 'message' | 'run' | 'call';
  source_id: string;
}

/** How far the messages of a space are in the index. */
export interface SearchSpaceRow {
  space_id: string;
  seq: number;
}

/** How far the index is: see domain/search/search-state.ts. */
interface SearchStateRow {
  key: string;
  value: Json;
}
