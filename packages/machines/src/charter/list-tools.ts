import type { ToolSet } from '@lastcall/core';
import { type Charter, CompiledCharter } from './charter.ts';
import { TRANSITION_PREFIX, UPDATE_STATE } from './tool-names.ts';

/** A tool that instances of a machine may be offered. */
export interface ListedTool {
  /** The name under which a model sees it. */
  readonly name: string;
  /** Where it is in the charter, e.g. `nodes.triage.tools.look_up`. */
  readonly path: string;
  /** The node that has it. Undefined for a tool of a pack or of the charter itself. */
  readonly node?: string;
  /** Undefined for what the machine makes: transitions and `updateState`. */
  readonly tool?: ToolSet[string];
}

/**
 * Lists the tools of a charter: of its nodes, of its packs and of the charter itself, also transitions and `updateState` by the names that
 * models see. Two nodes may have different tools of one name. A node that only a handler returns is listed once it was returned.
 */
export function listTools(charter: Charter): readonly ListedTool[] {
  const compiled = CompiledCharter.of(charter);
  const listed: ListedTool[] = [];
  const add = (set: ToolSet, path: string, node?: string): void => {
    for (const [name, tool] of Object.entries(set)) listed.push({ name, path: `${path}.${name}`, tool, ...at(node) });
  };
  const addMade = (names: Iterable<string>, path: string, node?: string): void => {
    for (const name of names)
      listed.push({ name: `${TRANSITION_PREFIX}${name}`, path: `${path}.${name}`, ...at(node) });
  };
  add(compiled.tools, 'tools');
  addMade(compiled.transitions.keys(), 'transitions');
  for (const [name, pack] of compiled.packs) add(pack.tools, `packs.${name}.tools`);
  for (const name of compiled.nodeNames) {
    const node = compiled.node(name);
    add(node.tools, `${node.path}.tools`, name);
    addMade(node.transitions.keys(), `${node.path}.transitions`, name);
    if (node.writable !== 'nothing') listed.push({ name: UPDATE_STATE, path: `${node.path}.updateState`, node: name });
  }
  return listed;
}

function at(node: string | undefined): Pick<ListedTool, 'node'> {
  return node === undefined ? {} : { node };
}
