/** What is different in nodes of a machine, by the names of the nodes. */
export type ChangedNodes = Readonly<Record<string, NodeChanges>>;

interface NodeChanges {
  /** In place of those of the charter. */
  readonly instructions?: string | undefined;
  /** In place of the node's own, or the agent's. */
  readonly model?: string | undefined;
}
