import type { Services } from '../../ports/services.ts';
import type { Cycle } from './cycle.ts';
import type { CycleTool } from './cycle-tools.ts';
import type { Questions } from './questions.ts';
import type { StagedWrites } from './staged-writes.ts';

/** What the writes of a cycle are applied with. */
export interface ApplyContext {
  readonly services: Services;
  readonly cycle: Cycle;
  readonly stagedWrites: StagedWrites;
  readonly questions: Pick<Questions, 'of'>;
  readonly toolNamed: (name: string) => CycleTool | undefined;
}
