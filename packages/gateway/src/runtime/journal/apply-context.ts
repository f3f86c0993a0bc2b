import type { Cycle } from '../run/cycle.ts';
import type { CycleTool } from '../toolset/cycle-tools.ts';
import type { Questions } from './questions.ts';
import type { StagedWrites } from './staged-writes.ts';

/** What is needed to apply the writes of a cycle. */
export interface ApplyContext {
  readonly cycle: Cycle;
  readonly stagedWrites: StagedWrites;
  readonly questions: Pick<Questions, 'of'>;
  /** The definition that a call of the tool would run, as one text. */
  readonly definitionOf: (toolName: string) => Promise<string>;
  readonly toolNamed: (name: string) => CycleTool | undefined;
}
