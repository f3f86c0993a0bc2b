import { type AnyTool, LastcallError, mergeToolSets, type ToolSet, tool } from '@lastcall/core';
import { CharterError } from '../errors.ts';
import type { AnyCommand } from './any-command.ts';
import type { CompiledTransition } from './compiled-node.ts';
import type { AnyNode } from './node-types.ts';
import type { PlainObject } from './plain.ts';
import { checkStateSchema, firstState } from './state-schema.ts';
import { nameProblem, TRANSITION_PREFIX } from './tool-names.ts';
import { isTransition } from './transition.ts';
import { readCommand } from './written-forms.ts';

export function checkHandler(given: Partial<Described>, name: string, path: string): Described {
  if (isTransition(given))
    throw new CharterError(path, 'is a decision already: give a handler that returns it, or the node itself.');
  if (typeof given.handler !== 'function') throw new CharterError(`${path}.handler`, 'must be a function.');
  const { handler: _handler, targets: _targets, ...told } = given;
  // Runs core's checks of the tool definition when the charter is built, not when the tool is first used.
  withCharterErrors(path, () =>
    tool({
      ...told,
      name: `${TRANSITION_PREFIX}${name}`,
      inputSchema: given.inputSchema ?? NO_INPUT,
      execute: () => undefined,
    } as never),
  );
  return given as Described;
}

type Described = CompiledTransition['definition'];

/** A schema that takes no arguments. */
export const NO_INPUT: { readonly type: 'object'; readonly properties: Record<string, never> } = Object.freeze({
  type: 'object',
  properties: {},
});

/** The run checks which version of the interface a model has. */
export function checkModel(model: unknown, path: string): void {
  const isModel = isObject(model) && typeof (model as { doGenerate?: unknown }).doGenerate === 'function';
  if (model === undefined || isModel || (typeof model === 'string' && model !== '')) return;
  throw new CharterError(path, 'must be an AI SDK language model, or the name of one.');
}

export function compileCommands({ commands }: AnyNode, path: string): ReadonlyMap<string, AnyCommand> {
  if (!isObject(commands)) throw new CharterError(`${path}.commands`, 'must be an object of commands.');
  return new Map(
    Object.entries(commands).map(([name, given]) => [name, compileCommand(given, name, `${path}.commands.${name}`)]),
  );
}

function compileCommand(given: unknown, name: string, path: string): AnyCommand {
  const command = isObject(given) || typeof given === 'function' ? readCommand(given) : {};
  if (typeof command.execute !== 'function')
    throw new CharterError(path, 'must be { inputSchema, execute }, or a function.');
  withCharterErrors(path, () => tool({ description: name, ...command } as never));
  return command as AnyCommand;
}

export function initialState({ state, initialState }: AnyNode, path: string): PlainObject | undefined {
  if (state !== undefined) withCharterErrors(`${path}.state`, () => checkStateSchema(state, `${path}.state`));
  const at = `${path}.initialState`;
  if (initialState !== undefined) return withCharterErrors(at, () => firstState(state, initialState, at));
  try {
    return firstState(state, {}, at);
  } catch {
    return undefined;
  }
}

export function checkTools(tools: ToolSet, path: string): void {
  withCharterErrors(path, () => mergeToolSets(tools));
  for (const [name, definition] of Object.entries(tools)) {
    const problem = nameProblem(name);
    if (problem !== undefined) throw new CharterError(`${path}.${name}`, problem);
    if ((definition as AnyTool).transition === true)
      throw new CharterError(`${path}.${name}`, 'is a transition: put it among the transitions of the node.');
  }
}

export function withCharterErrors<T>(path: string, check: () => T): T {
  try {
    return check();
  } catch (cause) {
    if (cause instanceof CharterError) throw cause;
    const where = cause instanceof LastcallError && 'path' in cause ? String(cause.path) : path;
    const said = cause instanceof Error ? cause.message : String(cause);
    // The path already says where: core's name for the tool would only confuse.
    throw new CharterError(where, said.replace(`${where}: `, '').replace(/^Tool "[^"]*": /, ''), { cause });
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
