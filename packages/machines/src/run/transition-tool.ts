import { type AnyTool, fail, ok, pending, type ToolContext, type ToolResult, tool } from '@lastcall/core';
import type { CompiledCharter } from '../charter/charter.ts';
import { NO_INPUT } from '../charter/check-parts.ts';
import type { CompiledNode, CompiledTransition } from '../charter/compiled-node.ts';
import { misplaced } from '../charter/decision-mark.ts';
import { firstFew } from '../charter/first-few.ts';
import type { Transition } from '../charter/node-types.ts';
import { nounFor } from '../charter/noun-for.ts';
import type { PlainObject, toPlain } from '../charter/plain.ts';
import { firstState } from '../charter/state-schema.ts';
import { isTransition } from '../charter/transition.ts';
import { MachineError } from '../errors.ts';
import { applyEvent, toContent } from '../tree/apply-event.ts';
import { findInstance } from '../tree/tree.ts';
import type { Seed, TreeEvent } from '../tree/tree-event.ts';
import { dispatchChange } from '../tree/view.ts';
import { bindTool } from './bind-tool.ts';
import { type MachineContext, machineContextOf, viewOf } from './machine-context.ts';

/** The tool with which a model takes a transition. */
export function transitionTool({ definition, path }: CompiledTransition): AnyTool {
  const { handler, description, inputSchema = NO_INPUT, effects = 'session', approval, timeoutMs } = definition;
  const made = tool({
    description,
    inputSchema: inputSchema as never,
    effects,
    transition: true,
    ...(approval === undefined || approval === false ? {} : { approval: asksOnce(approval) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: async (input, ctx) => {
      const machineContext = machineContextOf(ctx);
      if (machineContext.suspended) return fail(ALREADY, { code: 'transition_already_called' });
      return decide(await handler(input as never, ctx as never), ctx, path);
    },
  });
  return bindTool(made, { kind: 'own' });
}

/**
 * If another transition of the reply already waits, no approval is asked: the call fails, as a second transition does.
 */
function asksOnce(approval: NonNullable<CompiledTransition['definition']['approval']>) {
  return (input: unknown, ctx: ToolContext): boolean | Promise<boolean> =>
    !machineContextOf(ctx).suspended &&
    (approval === true || (approval !== false && approval(input as never, ctx as never)));
}

const ALREADY = 'Another transition of this reply is already waiting. Only the first one counts.';

/** Adds the handler's decision to the changes of its call, if it fits the tree. The result says what happened. */
export function decide(decision: unknown, ctx: ToolContext, path: string): ToolResult {
  if (!isTransition(decision))
    throw new MachineError(
      'transition',
      `A handler must return to(), spawn(), cede() or suspend() itself, and it returned ${nounFor(decision)}.`,
    );
  const machineContext = machineContextOf(ctx);
  if (decision.kind === 'suspend') return wait(decision, machineContext);
  const { instanceId } = viewOf(ctx).actor;
  const event = toEvent(decision, instanceId, machineContext, path);
  // The event is tried on the tree now, while the call can still fail.
  const { tree } = applyEvent(machineContext.tree(), event);
  dispatchChange(ctx.session, event);
  const born =
    event.kind === 'spawned' ? (findInstance(tree, instanceId)?.children.slice(-event.children.length) ?? []) : [];
  const value = { kind: decision.kind, ...(born.length === 0 ? {} : { children: born.map(({ id }) => id) }) };
  return ok(value, describe(event, born), { excludeValueFromContext: true });
}

function wait(
  { reason, expiresInMs }: Extract<Transition, { kind: 'suspend' }>,
  machineContext: MachineContext,
): ToolResult {
  if (!machineContext.canSuspend) throw misplaced('suspend', 'Only a transition can suspend. A command returned');
  const display = { suspend: toContent(reason) };
  const waiting = pending({ display, ...(expiresInMs === undefined ? {} : { expiresInMs }) });
  machineContext.suspended = true;
  return waiting;
}

function toEvent(
  decision: Exclude<Transition, { kind: 'suspend' }>,
  id: string,
  { charter, tree, canSuspend: isCall }: MachineContext,
  path: string,
): TreeEvent {
  switch (decision.kind) {
    case 'to': {
      const node = charter.resolve(decision.node, path);
      const instance = findInstance(tree(), id);
      if (node.worker && instance?.worker !== true)
        throw new MachineError(
          'transition',
          `"${node.name}" is a worker: spawn it. The instance that talks with the user cannot become one.`,
        );
      const moved = { kind: 'moved', id, node: node.name, state: stateFor(node, decision.state) } as const;
      return isCall ? moved : { ...moved, byCommand: true };
    }
    case 'spawn':
      return { kind: 'spawned', id, children: decision.children.map((child) => toSeed(charter, child, path)) };
    case 'cede':
      return { kind: 'ceded', id, content: toContent(decision.content) };
  }
}

function toSeed(charter: CompiledCharter, child: { node: unknown; state: unknown }, path: string): Seed {
  const node = charter.resolve(child.node, path);
  return { node: node.name, state: stateFor(node, child.state), worker: node.worker };
}

/** The first state of an instance of the node. Throws if none fits. */
export function stateFor(node: CompiledNode, given: unknown): PlainObject {
  if (given === undefined && node.initialState !== undefined) return node.initialState;
  return firstState(node.definition.state, given ?? {}, `the state of "${node.name}"`);
}

function describe(event: TreeEvent, born: readonly { readonly id: string; readonly node: string }[]): string {
  switch (event.kind) {
    case 'moved':
      return `Went on to "${event.node}".`;
    case 'spawned':
      return `Started ${firstFew(born.map(({ id, node }) => `"${node}" (${id})`))}.`;
    default:
      return 'Handed over.';
  }
}

/** The reason is plain, because it is stored with the tree. */
export function reasonOf(display: unknown): ReturnType<typeof toPlain> {
  const suspended = typeof display === 'object' && display !== null && 'suspend' in display;
  try {
    return toContent(suspended ? (display as { suspend: unknown }).suspend : display);
  } catch {
    return null;
  }
}
