// The public door of @lastcall/machines.

export { type Charter, type CharterDefinition, charter } from './charter.ts';
export type { AnyCommand, CommandDefinition } from './command.ts';
export { describeMachine } from './describe-machine.ts';
export { deserializeMachine, type RestoreOptions } from './deserialize-machine.ts';
export {
  CharterError,
  MachineError,
  type MachineErrorCode,
  RunFailed,
  StateError,
  StoredMachineError,
} from './errors.ts';
export type { MachineEntry, Origin, TreeEntry } from './log.ts';
export { createMachine, type Machine, type MachineOptions } from './machine.ts';
export type { RunMachineOptions } from './machine-options.ts';
export type { LeafReport, MachineStep, YieldReason } from './machine-step.ts';
export type { MachineMessage } from './message.ts';
export { type AnyNode, type CommandMaker, type Node, type NodeDefinition, node, type TransitionMaker } from './node.ts';
export { type Pack, type PackDefinition, pack } from './pack.ts';
export type { Plain, PlainObject } from './plain.ts';
export type { CommandOptions } from './run-command.ts';
export { type MachineResult, runMachine, runMachineToCompletion } from './run-machine.ts';
export { type MachineJson, serializeMachine } from './serialize-machine.ts';
export { type StateContext, type StateToolDefinition, type StateToolMaker, stateTool } from './state-context.ts';
export type { StateSchema } from './state-schema.ts';
export type { Suspension } from './suspension.ts';
export {
  type AnyTransition,
  cede,
  type NodeRef,
  type Spawn,
  type Spawned,
  spawn,
  suspend,
  type To,
  type Transition,
  type TransitionDefinition,
  to,
} from './transition.ts';
export type { Instance, Phase, Tree, Wait } from './tree.ts';
export type { InferredCommand, InferredTransition, Made, WrittenCommand, WrittenTransition } from './written-forms.ts';
