export type { Auth } from './auth.ts';
export type { Backoff } from './backoff.ts';
export { ClientError } from './client-error.ts';
export type { ClientOptions, RequestOptions } from './connection.ts';
export { type Client, createClient } from './create-client.ts';
export type { ConnectionState, StreamOptions } from './event-stream.ts';
export { everyItem } from './every-item.ts';
export type { Agents } from './resources/agents.ts';
export type { Audit } from './resources/audit.ts';
export type { Chat, ChatEvent, ChatOptions, ChatRequest } from './resources/chat.ts';
export type { Conversations } from './resources/conversations.ts';
export type { Entities, ExportedLine } from './resources/entities.ts';
export type { Erasures } from './resources/erasures.ts';
export type { Evaluations } from './resources/evaluations.ts';
export type { Grants } from './resources/grants.ts';
export type { HomeResource } from './resources/home.ts';
export type { Jobs } from './resources/jobs.ts';
export type { Keys } from './resources/keys.ts';
export type { Links } from './resources/links.ts';
export type { Mcp } from './resources/mcp.ts';
export type { Models } from './resources/models.ts';
export type { Notifications } from './resources/notifications.ts';
export type { AnsweredCall, Pending } from './resources/pending.ts';
export type { Projects } from './resources/projects.ts';
export type { Runs } from './resources/runs.ts';
export type { SearchTexts } from './resources/search.ts';
export type { SessionResource } from './resources/session.ts';
export type { Spaces } from './resources/spaces.ts';
export type { StatusResource } from './resources/status.ts';
export type { Tools } from './resources/tools.ts';
export type { UsageResource } from './resources/usage.ts';
export type { Problem, Verdict } from './verdict.ts';
export type {
  Agent,
  AgentConfig,
  AgentFile,
  AgentFileContent,
  AgentLimits,
  AgentTranscript,
  AgentVersion,
  Answer,
  Answerers,
  Attachment,
  AuditActor,
  AuditEntry,
  BatchConfig,
  Call,
  CardCall,
  Change,
  Changes,
  ChatAnswer,
  ChatMessage,
  ClaimedJob,
  ComparedReport,
  Conversation,
  ConversationWithMessages,
  Display,
  Draft,
  DraftChanges,
  Entity,
  Erasure,
  ErrorBody,
  Evaluation,
  EvaluationCase,
  EvaluationDetails,
  EvaluationReport,
  EvaluationResult,
  Fork,
  ForkChanges,
  ForkedFrom,
  Goal,
  Grant,
  GrantCondition,
  GrantRequest,
  Home,
  HomeDay,
  InboxError,
  InboxEvent,
  InboxItem,
  JobEvent,
  JobsConfig,
  JsonSchema,
  Key,
  ListedEvaluation,
  Machine,
  MachineCommand,
  MachineInstance,
  MachineNode,
  MachineWait,
  McpServer,
  McpServerConfig,
  McpTool,
  Member,
  Memory,
  Message,
  MessagePart,
  MiddlewareConfig,
  Model,
  ModelMessage,
  NewEvaluationSample,
  Notification,
  NotificationTarget,
  Operations,
  Outcome,
  Page,
  PageQuery,
  PendingCall,
  Plan,
  Project,
  ResetEvent,
  Run,
  RunCall,
  RunEntry,
  RunEvent,
  SearchResult,
  Session,
  Settlement,
  SignInLink,
  Slice,
  Space,
  SpaceEvent,
  Status,
  StepRequest,
  Stop,
  Story,
  StoryWait,
  Task,
  TerminatingConfig,
  TerminatingContract,
  Tool,
  ToolConfig,
  TranscriptEntry,
  Usage,
  UsageItem,
  UsageReport,
} from './wire.generated.ts';
