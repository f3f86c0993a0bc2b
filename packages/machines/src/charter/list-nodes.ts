import { type Charter, CompiledCharter } from './charter.ts';

/** A node, as people read and change it. */
export interface ListedNode {
  readonly name: string;
  readonly worker: boolean;
  /** Absent if the state decides: then the instructions are code. */
  readonly instructions?: string;
  /** Its own model, if that is a name. */
  readonly model?: string;
}

/** The nodes of a charter, in its order. */
export function listNodes(charter: Charter): readonly ListedNode[] {
  const compiled = CompiledCharter.of(charter);
  return compiled.nodeNames.map((name) => {
    const { worker, definition } = compiled.node(name);
    const { instructions, model } = definition as { instructions?: unknown; model?: unknown };
    return {
      name,
      worker,
      ...(typeof instructions === 'string' ? { instructions } : {}),
      ...(typeof model === 'string' ? { model } : {}),
    };
  });
}
