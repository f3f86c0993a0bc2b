// The public door of @lastcall/machines.

export type { AnyCommand } from './charter/any-command.ts';
export { type Charter, charter } from './charter/charter.ts';
export type { CharterDefinition } from './charter/charter-definition.ts';
export type { CommandDefinition } from './charter/command.ts';
export { type PackDefinition, pack } from './charter/define-pack.ts';
export { type ListedTool, listTools } from './charter/list-tools.ts';
export { type CommandMaker, type NodeDefinition, node, type TransitionMaker } from './charter/node.ts';
export type { AnyNode, AnyTransition, Node, NodeRef, Spawn, Spawned, To, Transition } from './charter/node-types.ts';
export type { Pack } from './charter/pack.ts';
export type { Plain, PlainObject } from './charter/plain.ts';
export {
  type MachineToolDefinition as ToolDefinition,
  type StateContext,
  type StateToolDefinition,
  type StateToolMaker,
  stateTool,
} from './charter/state-context.ts';
export type { StateSchema } from './charter/state-schema.ts';
export { cede, spawn, suspend, type TransitionDefinition, to } from './charter/transition.ts';
export type {
  InferredCommand,
  InferredTransition,
  Made,
  WrittenCommand,
  WrittenTransition,
} from './charter/written-forms.ts';
export {
  CharterError,
  MachineError,
  type MachineErrorCode,
  RunFailed,
  StateError,
  StoredMachineError,
} from './errors.ts';
export type { CommandOptions } from './run/command-options.ts';
export { createMachine, type MachineOptions } from './run/create-machine.ts';
export { describeMachine } from './run/describe-machine.ts';
export { type AvailableCommand, listCommands } from './run/list-commands.ts';
export type { Machine } from './run/machine.ts';
export type { LeafToAsk, RunMachineOptions } from './run/machine-options.ts';
export type { LeafReport, MachineStep, YieldReason } from './run/machine-step.ts';
export { recordMachine } from './run/record-machine.ts';
export { type MachineResult, runMachine, runMachineToCompletion } from './run/run-machine.ts';
export { compactMachine } from './stored/compact-machine.ts';
export { type ContinueOptions, continueMachine } from './stored/continue-machine.ts';
export { deserializeMachine, type RestoreOptions } from './stored/deserialize-machine.ts';
export { machineFromRecords, type RecordsOptions } from './stored/machine-from-records.ts';
export { serializeMachine } from './stored/serialize-machine.ts';
export type { MachineEntry, Origin, TreeEntry } from './tree/log.ts';
export type { MachineJson, TreeJson } from './tree/machine-json.ts';
export type {
  ChangeEntry,
  MachineChange,
  MachineStaged,
  NotedEntry,
  RecordedEntry,
  ThreadEntry,
} from './tree/machine-record.ts';
export type { MachineMessage } from './tree/message.ts';
export type { Suspension } from './tree/suspension.ts';
export type { Instance, Phase, QueuedMessage, Tree, Wait } from './tree/tree.ts';
export type { Seed, Target, TreeEvent } from './tree/tree-event.ts';
