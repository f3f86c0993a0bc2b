import { findInstance, type Instance, inTreeOrder, type Tree, walk } from './tree.ts';

/** The instances that have something to do, updated with each event, so that a step looks only at these. */
export class LeafIndex {
  /** Leaves whose model is to be asked, or whose answers have come. */
  readonly ready: Set<string> = new Set();
  /** Leaves that wait for answers. */
  readonly suspended: Set<string> = new Set();
  /** Instances that have ceded and are to be removed. */
  readonly ceded: Set<string> = new Set();
  /** Instances with calls that wait and have no answer. */
  readonly waiting: Set<string> = new Set();
  /** Suspended leaves with a call that may expire. */
  readonly expiring: Set<string> = new Set();

  constructor(tree: Tree) {
    for (const instance of walk(tree.root)) this.#add(instance);
  }

  update(tree: Tree, ids: Iterable<string>): void {
    for (const id of ids) {
      for (const set of [this.ready, this.suspended, this.ceded, this.waiting, this.expiring]) set.delete(id);
      const instance = findInstance(tree, id);
      if (instance !== undefined) this.#add(instance);
    }
  }

  /** The leaves that act in the next step, in tree order. */
  active(tree: Tree, now: () => number): readonly string[] {
    const expired = [...this.expiring].filter((id) => isExpired(findInstance(tree, id), now()));
    return [...new Set([...this.ready, ...expired])].sort(inTreeOrder);
  }

  #add({ id, children, phase, waits }: Instance): void {
    const unanswered = waits.filter(({ answer }) => answer === undefined);
    if (unanswered.length > 0) this.waiting.add(id);
    if (children.length > 0) return;
    if (phase.kind === 'ceded') this.ceded.add(id);
    else if (phase.kind === 'ready' || unanswered.length < waits.length) this.ready.add(id);
    // It no longer waits for anything and has not continued yet: it was stored just after its last answer came.
    else if (phase.kind === 'suspended' && waits.length === 0) this.ready.add(id);
    else if (phase.kind === 'suspended') {
      this.suspended.add(id);
      if (unanswered.some(({ expiresAt }) => expiresAt !== undefined)) this.expiring.add(id);
    }
  }
}

function isExpired(instance: Instance | undefined, now: number): boolean {
  return instance?.waits.some(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now) ?? false;
}
