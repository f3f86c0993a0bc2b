import type { ToolSet } from '@lastcall/core';
import type { CompiledNode, CompiledTransition } from './compiled-node.ts';
import type { AnyNode } from './node-types.ts';
import type { Pack } from './pack.ts';
import type { PlainObject } from './plain.ts';

export interface CharterParts {
  readonly nodes: Map<string, CompiledNode>;
  readonly names: Map<AnyNode, string>;
  readonly transitions: ReadonlyMap<string, CompiledTransition>;
  readonly tools: ToolSet;
  readonly packs: ReadonlyMap<string, Pack>;
  readonly packStates: { readonly [name: string]: PlainObject };
  /** Names and checks a node that is first seen at run time. */
  readonly adopt: (node: AnyNode, path: string) => string;
}
