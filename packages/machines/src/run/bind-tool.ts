import { type AiSdkTool, type AnyTool, fail, type ToolContext } from '@lastcall/core';
import { assertNoDecision, decisionKind, misplaced } from '../charter/decision-mark.ts';
import type { Pack } from '../charter/pack.ts';
import type { PlainObject } from '../charter/plain.ts';
import type { StateContext } from '../charter/state-context.ts';
import { patchState } from '../charter/state-schema.ts';
import { StateError } from '../errors.ts';
import type { Target } from '../tree/tree-event.ts';
import { dispatchChange, type View } from '../tree/view.ts';
import { machineContextOf, viewOf } from './machine-context.ts';

/** Whose state a tool sees, and whether it may change it. */
export type Scope =
  | { readonly kind: 'own' }
  | { readonly kind: 'pack'; readonly pack: Pack }
  /** 0 is the parent. */
  | { readonly kind: 'ancestor'; readonly distance: number }
  | { readonly kind: 'charter' };

/**
 * The tool with the machine's state in its context. Its writes are claimed when it has run; a conflict is an error of
 * the tool.
 */
export function bindTool<T extends AnyTool | AiSdkTool>(definition: T, scope: Scope): T {
  const { execute, approval, effects } = definition as AnyTool;
  const grant: Grant = { scope, isReader: effects === 'none' };
  const bound: { -readonly [K in 'execute' | 'approval']?: unknown } = {};
  if (execute !== undefined)
    bound.execute = (input: never, ctx: ToolContext) => {
      const call = { ctx, before: viewOf(ctx).events.length };
      return finish(
        begin(() => execute(input, withState(ctx, grant) as never), ctx),
        call,
      );
    };
  if (typeof approval === 'function')
    bound.approval = (input: never, ctx: ToolContext) =>
      checkAnswer(approval(input, withState(ctx, grant) as never), ctx);
  return { ...definition, ...bound };
}

function checkAnswer(answer: unknown, ctx: ToolContext): unknown {
  if (isPromise(answer)) return answer.then((value) => checkAnswer(value, ctx));
  assertNoDecision(answer, `The approval of "${ctx.toolName}" returned`);
  return answer;
}

interface Grant {
  readonly scope: Scope;
  /** True if the tool says that it has no effects. */
  readonly isReader: boolean;
}

/** Adds the state to the context object itself. This is safe, because a context belongs to one run of one call. */
function withState(ctx: ToolContext, grant: Grant): StateContext {
  const { actor } = viewOf(ctx);
  const { scope } = grant;
  return Object.defineProperties(ctx, {
    state: { enumerable: true, configurable: true, get: () => stateIn(viewOf(ctx), scope) },
    updateState: own((patch: unknown) => updateState(ctx, grant, patch)),
    instanceId: own(actor.instanceId),
    nodeName: own(actor.node),
    pack: own((pack: Pack | string) => packIn(viewOf(ctx), pack)),
  }) as StateContext;
}

function own(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, configurable: true };
}

function stateIn(view: View, scope: Scope): PlainObject {
  switch (scope.kind) {
    case 'own':
    case 'charter':
      return view.state;
    case 'pack':
      return packIn(view, scope.pack);
    case 'ancestor':
      return view.ancestors[scope.distance] ?? {};
  }
}

function packIn(view: View, pack: Pack | string): PlainObject {
  const name: unknown = typeof pack === 'string' ? pack : pack?.name;
  if (typeof name !== 'string') throw new StateError('packs', 'ctx.pack() takes a pack or its name.');
  const state = Object.hasOwn(view.packs, name) ? view.packs[name] : undefined;
  if (state === undefined)
    throw new StateError(`packs.${name}`, `"${view.actor.node}" does not use this pack: list it in the node's packs.`);
  return state;
}

function updateState(ctx: ToolContext, { scope, isReader }: Grant, patch: unknown): void {
  if (isReader)
    throw new StateError(
      'state',
      `"${ctx.toolName}" declares effects: 'none'. To change state, declare effects: 'session'.`,
    );
  const view = viewOf(ctx);
  const { target, schema } = targetOf(ctx, view, scope);
  const { fields } = patchState(schema, stateIn(view, scope), patch, 'state');
  dispatchChange(ctx.session, { kind: 'patched', target, ...fields });
}

function targetOf(ctx: ToolContext, view: View, scope: Scope): { target: Target; schema: unknown } {
  switch (scope.kind) {
    case 'own': {
      const { definition } = machineContextOf(ctx).charter.node(view.actor.node);
      return { target: { kind: 'instance', id: view.actor.instanceId }, schema: definition.state };
    }
    case 'pack':
      return { target: { kind: 'pack', name: scope.pack.name }, schema: scope.pack.state };
    case 'ancestor':
      throw new StateError(
        'state',
        `"${ctx.toolName}" is a tool of an ancestor: it may read the state, and not change it.`,
      );
    case 'charter':
      throw new StateError(
        'state',
        `"${ctx.toolName}" is a tool of the charter: it may read the state, and not change it.`,
      );
  }
}

interface RunningCall {
  readonly ctx: ToolContext;
  /** How many changes there were when the call began: those belong to earlier calls. */
  readonly before: number;
}

function begin(run: () => unknown, ctx: ToolContext): unknown {
  try {
    return run();
  } catch (error) {
    throw refuseThrown(error, ctx);
  }
}

/** If a decision was thrown, an error that says so; any other error unchanged. */
function refuseThrown(error: unknown, { toolName }: ToolContext): unknown {
  const kind = decisionKind(error);
  return kind === undefined ? error : misplaced(kind, `"${toolName}" threw`);
}

/** Runs once the tool is done, in whichever form it returned. */
function finish(returned: unknown, call: RunningCall): unknown {
  if (isPromise(returned))
    return Promise.resolve(returned).then(
      (value) => finish(value, call),
      (error) => Promise.reject(refuseThrown(error, call.ctx)),
    );
  if (isIterable(returned)) return finishLast(returned, call);
  assertNoDecision(returned, `"${call.ctx.toolName}" returned`);
  return claimWrites(call) ?? returned;
}

async function* finishLast(values: AsyncIterable<unknown>, call: RunningCall): AsyncGenerator<unknown> {
  const where = `"${call.ctx.toolName}" returned`;
  for await (const value of watchReturn(values, where)) {
    assertNoDecision(value, where);
    yield value;
  }
  const conflict = claimWrites(call);
  if (conflict !== undefined) yield conflict;
}

/** The failure of the call if its writes conflict with another's; undefined if there is no conflict. */
function claimWrites({ ctx, before }: RunningCall): ReturnType<typeof fail> | undefined {
  const events = viewOf(ctx).events.slice(before);
  if (events.length === 0) return undefined;
  const conflict = machineContextOf(ctx).claim(events);
  return conflict === undefined ? undefined : fail(conflict, { code: 'conflict' });
}

/** Core ignores what a generator returns after its last value. A decision there must not be lost silently. */
async function* watchReturn(values: AsyncIterable<unknown>, where: string): AsyncGenerator<unknown> {
  assertNoDecision(yield* values, where);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
