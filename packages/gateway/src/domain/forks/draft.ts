import type { ForkRow } from '../../ports/store/schema/tables.ts';
import type { ChangedNodes } from './changed-nodes.ts';

/**
 * What `at_step` is in the row of a draft: a conversation with an agent whose configuration is not saved. It has the rules of a fork, and
 * does no step again.
 */
export const DRAFT_STEP: ForkRow['at_step'] = 0;

/** What a run of a draft tells about it. */
export interface DraftDetails {
  /** The fields of the configuration that are not saved. Null: without the field. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** Of a machine: what is different in its nodes, by their names. Stored with the fork. */
  readonly nodes?: ChangedNodes | undefined;
  /** The run of the same draft that came before it in the conversation. */
  readonly after?: string | undefined;
  /** The run whose message it answers again. */
  readonly again?: string | undefined;
}
