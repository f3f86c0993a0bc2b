import type { ToolSet } from '@lastcall/core';
import { assertKnownOptions, type KnownNames, knownNames } from '@lastcall/core/internal';
import { CharterError } from '../errors.ts';
import type { CharterDefinition } from './charter-definition.ts';
import type { CharterParts } from './charter-parts.ts';
import {
  checkHandler,
  checkModel,
  checkTools,
  compileCommands,
  initialState,
  isObject,
  withCharterErrors,
} from './check-parts.ts';
import type { CompiledNode, CompiledTransition } from './compiled-node.ts';
import type { NodeRef } from './node-types.ts';
import { type AnyNode, isNode } from './node-types.ts';
import type { Pack } from './pack.ts';
import type { PlainObject } from './plain.ts';
import { checkStateSchema, firstState } from './state-schema.ts';
import { to } from './transition.ts';
import { unknownNode } from './unknown-name.ts';
import { writableFields } from './writable-fields.ts';
import { readTransition } from './written-forms.ts';

/** Checks the whole charter and returns its parts with every reference resolved. */
export function compileCharter(definition: CharterDefinition): CharterParts {
  if (!isObject(definition) || !(isObject(definition.nodes) || Array.isArray(definition.nodes)))
    throw new CharterError('charter', 'must be given { nodes: { name: node({ … }) } }.');
  assertKnownOptions(definition, OPTIONS);
  return new Compiler(definition).compile();
}

const OPTIONS: KnownNames = knownNames<CharterDefinition>({ nodes: true, transitions: true, tools: true, packs: true });

class Compiler {
  readonly #definition: CharterDefinition;
  readonly #nodes = new Map<string, CompiledNode>();
  readonly #names = new Map<AnyNode, string>();
  /** All registered names, compiled or not: a node may name one that comes later. */
  readonly #taken = new Set<string>();
  /** The node that was registered last, with all nodes inside it. */
  readonly #fresh = new Map<string, AnyNode>();
  /** How often nodes returned by handlers asked for each name. */
  readonly #counts = new Map<string, number>();
  readonly #packs = new Map<string, Pack>();
  /** Transitions that are only a target node: that node must have an initial state. */
  readonly #bare: { readonly target: string; readonly path: string }[] = [];
  /** Inline nodes that are still to be compiled. */
  readonly #ahead: { readonly node: AnyNode; readonly name: string; readonly path: string }[] = [];

  constructor(definition: CharterDefinition) {
    this.#definition = definition;
  }

  compile(): CharterParts {
    const { transitions = {}, tools = {} } = this.#definition as {
      transitions?: AnyNode['transitions'];
      tools?: ToolSet;
    };
    const packStates = this.#registerPacks();
    if (isNode(this.#definition.nodes)) throw new CharterError('nodes', 'must be { name: node }, not a node itself.');
    const nodes = named(this.#definition.nodes);
    if (nodes.length === 0) throw new CharterError('nodes', 'must have a node.');
    // All names are registered first: a node may name one that is written below it.
    for (const [name, node] of nodes) {
      if (isNode(node) && node.name !== undefined && node.name !== name)
        throw new CharterError(`nodes.${name}`, `the node calls itself "${node.name}". Name and key must be equal.`);
      const known = this.#register(node, name, `nodes.${name}`);
      if (known !== name) throw new CharterError(`nodes.${name}`, `is the node that is registered as "${known}".`);
    }
    checkTools(tools, 'tools');
    const shared = this.#compileTransitions(transitions, 'transitions', '');
    this.#compileAll();
    return {
      nodes: this.#nodes,
      names: this.#names,
      transitions: shared,
      tools,
      packs: this.#packs,
      packStates,
      adopt: (node, path) => this.#adopt(node, path),
    };
  }

  #compileAll(): void {
    for (let next = this.#ahead.shift(); next !== undefined; next = this.#ahead.shift())
      this.#nodes.set(next.name, this.#compileNode(next.node, next.name, next.path));
    for (let next = this.#bare.pop(); next !== undefined; next = this.#bare.pop()) this.#checkBare(next);
  }

  /** Such a transition passes no state, so without an initial state it would fail whenever a model takes it. */
  #checkBare({ target, path }: { readonly target: string; readonly path: string }): void {
    const node = this.#nodes.get(target);
    if (node === undefined || node.initialState !== undefined) return;
    const problem = whyNoState(node);
    throw new CharterError(
      path,
      `"${target}" has no initial state (${problem}). Give the node an initialState, or a handler that brings one: () => to('${target}', { … }).`,
    );
  }

  #registerPacks(): { readonly [name: string]: PlainObject } {
    const { packs = [] } = this.#definition;
    if (typeof packs !== 'object' || packs === null) throw new CharterError('packs', 'must be an array of packs.');
    const states: Record<string, PlainObject> = {};
    for (const one of Object.values(packs) as readonly Pack[]) {
      const path = `packs.${one?.name ?? '?'}`;
      if (!isObject(one) || typeof one.name !== 'string') throw new CharterError('packs', 'must come from pack().');
      if (this.#packs.has(one.name)) throw new CharterError(path, 'is registered twice.');
      checkTools(one.tools, `${path}.tools`);
      if (!['string', 'function', 'undefined'].includes(typeof one.instructions))
        throw new CharterError(`${path}.instructions`, 'must be a text or a function of the state.');
      withCharterErrors(`${path}.state`, () => checkStateSchema(one.state, `${path}.state`));
      states[one.name] = withCharterErrors(`${path}.initialState`, () =>
        firstState(one.state, one.initialState ?? {}, `${path}.initialState`),
      );
      this.#packs.set(one.name, one);
    }
    return states;
  }

  #register(node: unknown, name: string, path: string): string {
    if (!isNode(node)) throw new CharterError(path, 'must come from node().');
    const known = this.#names.get(node);
    if (known !== undefined) return known;
    if (name === '' || name.length > 200) throw new CharterError(path, 'a node must have a name of 1–200 characters.');
    if (this.#taken.has(name)) throw new CharterError(path, `another node is named "${name}" already.`);
    this.#names.set(node, name);
    this.#taken.add(name);
    this.#fresh.set(name, node);
    this.#ahead.push({ node, name, path });
    return name;
  }

  /** Registers a node that a handler returned. */
  #adopt(node: AnyNode, path: string): string {
    const name = this.#freeName((isNode(node) ? node.name : undefined) ?? inlineName(path));
    this.#fresh.clear();
    try {
      this.#register(node, name, path);
      this.#compileAll();
      return name;
    } catch (error) {
      this.#forgetFresh();
      throw error;
    }
  }

  /** The count continues from the last one, because a handler may return a new node each time. */
  #freeName(base: string): string {
    let [name, count] = [base, this.#counts.get(base) ?? 1];
    while (this.#taken.has(name)) name = `${base}.${++count}`;
    this.#counts.set(base, count);
    return name;
  }

  /** Removes a node that cannot work, and the nodes inside it. */
  #forgetFresh(): void {
    this.#ahead.length = 0;
    this.#bare.length = 0;
    for (const [name, node] of this.#fresh) {
      this.#names.delete(node);
      this.#taken.delete(name);
      this.#nodes.delete(name);
    }
  }

  #compileNode(definition: AnyNode, name: string, path: string): CompiledNode {
    const { instructions, worker } = definition;
    if (typeof instructions !== 'string' && typeof instructions !== 'function')
      throw new CharterError(`${path}.instructions`, 'must be a text or a function of the state.');
    if (typeof worker !== 'boolean') throw new CharterError(`${path}.worker`, 'must be true or false.');
    checkModel(definition.model, `${path}.model`);
    checkTools(definition.tools, `${path}.tools`);
    const first = initialState(definition, path);
    return {
      name,
      path,
      definition,
      worker,
      hasState: definition.state !== undefined,
      initialState: first,
      writable: writableFields(definition, first, `${path}.updateState`),
      tools: definition.tools,
      transitions: this.#compileTransitions(definition.transitions, `${path}.transitions`, name),
      packs: this.#packsOf(definition, path),
      commands: compileCommands(definition, path),
    };
  }

  #packsOf({ packs, worker }: AnyNode, path: string): readonly Pack[] {
    if (!Array.isArray(packs)) throw new CharterError(`${path}.packs`, 'must be an array of packs.');
    if (worker && packs.length > 0) throw new CharterError(`${path}.packs`, 'a worker has no packs.');
    const owners = new Map<string, string>();
    return packs.map((given: Pack | string | undefined, index) => {
      const at = `${path}.packs[${index}]`;
      const one = this.#packNamed(given, at);
      for (const name of Object.keys(one.tools)) {
        const other = owners.get(name);
        if (other !== undefined) throw new CharterError(at, `packs "${other}" and "${one.name}" both have "${name}".`);
        owners.set(name, one.name);
      }
      return one;
    });
  }

  #packNamed(given: Pack | string | undefined, path: string): Pack {
    const name = typeof given === 'string' ? given : given?.name;
    const known = this.#packs.get(name ?? '');
    if (known !== undefined && (known === given || name === given)) return known;
    throw new CharterError(path, `pack "${name ?? '?'}" is not registered: list it in the charter's packs.`);
  }

  #compileTransitions(
    transitions: AnyNode['transitions'],
    path: string,
    owner: string,
  ): ReadonlyMap<string, CompiledTransition> {
    if (!isObject(transitions)) throw new CharterError(path, 'must be an object of transitions.');
    const compiled = new Map<string, CompiledTransition>();
    for (const [name, given] of Object.entries(transitions))
      compiled.set(name, this.#compileTransition(given, name, `${path}.${name}`, owner));
    return compiled;
  }

  #compileTransition(given: unknown, name: string, path: string, owner: string): CompiledTransition {
    const short = typeof given === 'string' || isNode(given);
    if (!short && !isObject(given) && typeof given !== 'function')
      throw new CharterError(
        path,
        'must be a node, the name of one, a handler, or { description, inputSchema, handler }.',
      );
    if (!/^[\w-]{1,53}$/.test(name))
      throw new CharterError(path, `a transition's name is 1–53 letters, digits, "_" or "-".`);
    const written = short ? undefined : readTransition(given as object);
    const listed = short ? [given as NodeRef] : (written?.targets ?? []);
    if (!Array.isArray(listed)) throw new CharterError(`${path}.targets`, 'must be an array of nodes.');
    const inline = owner === '' ? name : `${owner}.${name}`;
    const targets = listed.map((target: NodeRef, index) => {
      const at = short ? path : `${path}.targets[${index}]`;
      return this.#reference(target, listed.length > 1 ? `${inline}.${index + 1}` : inline, at);
    });
    const description = describeTransition(name, targets, short);
    const [target] = targets;
    if (short) this.#bare.push({ target: target as string, path });
    const definition = { description, ...(written ?? { handler: () => to(target as string) }) };
    return { name, path, definition: checkHandler(definition, name, path), targets };
  }

  #reference(reference: NodeRef, inlineName: string, path: string): string {
    if (typeof reference !== 'string')
      return this.#register(reference, (isNode(reference) ? reference.name : undefined) ?? inlineName, path);
    if (this.#taken.has(reference)) return reference;
    throw new CharterError(path, unknownNode(reference, [...this.#taken]));
  }
}

function whyNoState({ definition, path }: CompiledNode): string {
  try {
    firstState(definition.state, {}, `${path}.state`);
    return 'its schema makes none';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The description that the model sees if the transition has none. */
function describeTransition(name: string, targets: readonly string[], short: boolean): string {
  if (short) return `Go on as "${targets[0]}".`.slice(0, 200);
  const where = targets.length === 0 ? '' : `, to ${targets.map((target) => `"${target}"`).join(' or ')}`;
  return `The transition "${name}"${where}.`.slice(0, 200);
}

/** The nodes with their names. Nodes in a list carry their own. */
function named(nodes: CharterDefinition['nodes']): readonly (readonly [string, AnyNode])[] {
  if (!Array.isArray(nodes)) return Object.entries(nodes);
  return (nodes as readonly AnyNode[]).map((one, index) => {
    if (isNode(one) && one.name !== undefined) return [one.name, one];
    throw new CharterError(
      `nodes[${index}]`,
      'must come from node() and have a name; or give { nodes: { name: node } }.',
    );
  });
}

/** `nodes.triage.transitions.escalate` is where a node named `triage.escalate` came from. */
function inlineName(path: string): string {
  return path.replace(/^nodes\./, '').replace(/(^|\.)transitions\./, '$1');
}
