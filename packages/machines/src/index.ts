// The public door of @lastcall/machines.

export { type Charter, type CharterDefinition, charter } from './charter/charter.ts';
export type { AnyCommand, CommandDefinition } from './charter/command.ts';
export {
  type AnyNode,
  type CommandMaker,
  type Node,
  type NodeDefinition,
  node,
  type TransitionMaker,
} from './charter/node.ts';
export { type Pack, type PackDefinition, pack } from './charter/pack.ts';
export type { Plain, PlainObject } from './charter/plain.ts';
export {
  type StateContext,
  type StateToolDefinition,
  type StateToolMaker,
  stateTool,
} from './charter/state-context.ts';
export type { StateSchema } from './charter/state-schema.ts';
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
} from './charter/transition.ts';
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
export { createMachine, type Machine, type MachineOptions } from './machine.ts';
export { describeMachine } from './run/describe-machine.ts';
export type { RunMachineOptions } from './run/machine-options.ts';
export type { LeafReport, MachineStep, YieldReason } from './run/machine-step.ts';
export type { CommandOptions } from './run/run-command.ts';
export { type MachineResult, runMachine, runMachineToCompletion } from './run/run-machine.ts';
export { deserializeMachine, type RestoreOptions } from './stored/deserialize-machine.ts';
export { type MachineJson, serializeMachine } from './stored/serialize-machine.ts';
export type { MachineEntry, Origin, TreeEntry } from './tree/log.ts';
export type { MachineMessage } from './tree/message.ts';
export type { Suspension } from './tree/suspension.ts';
export type { Instance, Phase, Tree, Wait } from './tree/tree.ts';
