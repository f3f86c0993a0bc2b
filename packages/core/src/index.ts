// The public door of @lastcall/core: tools, sessions, calls and turns. What only prompts, plugins or file systems need is in
// doors/. Most types of options have no name here: write `Parameters<typeof dispatchCall>[0]`.

export { type Budget, createBudget } from './budget.ts';
export type { Clock } from './clock.ts';
export type { AiSdkTool } from './contract/ai-sdk-tool.ts';
export type { AnyTool } from './contract/any-tool.ts';
export type { Middleware } from './contract/middleware.ts';
export type { BrokenInput, MiddlewareCall } from './contract/middleware-for.ts';
export type { Prompt } from './contract/prompt.ts';
export { type Section, section } from './contract/section.ts';
export { MaxConsecutiveNudgesExceeded, MaxInvocationsExceeded } from './contract/terminating.ts';
export type { ToolContext } from './contract/tool-context.ts';
export type { ToolReturn } from './contract/tool-return.ts';
export { filterToolSet, mergeToolSets, type ToolSet } from './contract/tool-set.ts';
export type { TurnEvent } from './contract/turn-events.ts';
export type { PendingCall, TurnResult } from './contract/turn-result.ts';
export type { FinishedStep, StepInfo } from './contract/turn-settings.ts';
export { dispatchCall } from './dispatch/dispatch-call.ts';
export {
  BudgetUsedUp,
  DeadlineExceededError,
  JournalStalled,
  LastcallError,
  OptionsError,
  PolicyDenied,
  PromptEvaluationError,
  PromptValidationError,
  ReadOnlyError,
  RestoreFailed,
  SchemaError,
  SessionError,
  SliceVersionError,
  StaleCallError,
  StoredTranscriptError,
  ToolDefinitionError,
  ToolSetError,
  ToolValidationError,
  VisibilityExpansionRequired,
} from './errors.ts';
export type { Filesystem } from './files/filesystem.ts';
export { memoryFilesystem } from './files/memory-filesystem.ts';
export type { Logger } from './logger.ts';
export { cache } from './middleware/cache.ts';
export { log } from './middleware/log.ts';
export { repair } from './middleware/repair.ts';
export { retry } from './middleware/retry.ts';
export type { ModelReply } from './model/model-reply.ts';
export type { Usage } from './model/usage.ts';
export type { NewId } from './new-id.ts';
export { type Plan, plan } from './planning/plan.ts';
export { planningSection } from './planning/planning-section.ts';
export { plugin } from './plugin/plugin.ts';
export type { Policy, PolicyContext } from './policies/policy.ts';
export { readBeforeWrite } from './policies/read-before-write.ts';
export { requires } from './policies/requires.ts';
export { prompt } from './prompt/build-prompt.ts';
export type { Answer } from './results/answer.ts';
export type { Change, Changes } from './results/changes.ts';
export type { ErrorCode, Outcome, Part, Settlement } from './results/outcome.ts';
export {
  blocked,
  type FailResult,
  fail,
  isToolResult,
  type OkResult,
  ok,
  type PendingResult,
  pending,
  type ReplyResult,
  reply,
  type ToolResult,
} from './results/result.ts';
export { type Secret, secret } from './results/secret.ts';
export { jsonSchema } from './schema/json-schema.ts';
export type { JsonSchemaObject } from './schema/json-schema-object.ts';
export type { Problem } from './schema/schema-result.ts';
export { createSession, Session } from './session/create-session.ts';
export { type Resource, type Resources, resource } from './session/resource.ts';
export type { SessionJson } from './session/session-json.ts';
export { type SharedResources, sharedResources } from './session/shared-resources.ts';
export { type SessionEvent, type Slice, slice } from './session/slice.ts';
export type { Snapshot } from './session/snapshots.ts';
export type { ToolInvoked } from './session/tool-invoked.ts';
export { configureTools } from './tools/configure-tools.ts';
export { type Tool, tool } from './tools/tool.ts';
export type { ToolDefinition } from './tools/tool-definition.ts';
export { wrapToolSet } from './tools/wrap-tool-set.ts';
export type { Entry } from './transcript/entry.ts';
export type { Journal, Staged, StartedCall } from './transcript/journal.ts';
export type { Message } from './transcript/message.ts';
export type { Stop } from './transcript/stop.ts';
export { Transcript } from './transcript/transcript.ts';
export type { TranscriptJson } from './transcript/transcript-json.ts';
export { type JournalRecord, replay } from './turn/replay.ts';
export { rewindTool } from './turn/rewind-tool.ts';
export { runTurn } from './turn/run-turn.ts';
export { streamTurn, type TurnStream } from './turn/stream-turn.ts';
export { type AiSdkTools, toAiSdkTools } from './turn/to-ai-sdk-tools.ts';
export { TurnFailed } from './turn/turn-error.ts';
export type { TurnOptions } from './turn/turn-options.ts';
