import type { Clock } from '@lastcall/core';
import type { CardCall } from '../../domain/spaces/card-call.ts';
import type { Services } from '../../ports/services.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { RunTool } from '../run/run-tool.ts';
import type { RunSpend } from '../spend/run-spend.ts';
import type { Questions } from './questions.ts';
import type { StagedWrites } from './staged-writes.ts';

/** What is needed to apply the writes of a run. */
export interface ApplyContext {
  readonly run: ActiveRun;
  /** Tools say by this clock until when a call waits. */
  readonly clock: Pick<Clock, 'now'>;
  readonly services: Pick<Services, 'logger'>;
  readonly stagedWrites: StagedWrites;
  /** Counts requests to models. */
  readonly spend: Pick<RunSpend, 'take' | 'count'>;
  readonly questions: Pick<Questions, 'of'>;
  /** The definition that a call of the tool would run, as one text: see `askedDefinition`. */
  readonly definitionOf: (toolName: string) => Promise<string>;
  /** The node of the machine that made a call. */
  readonly nodeOf?: ((callId: string) => string | undefined) | undefined;
  /** What the card of a call shows that runs because of a grant. */
  readonly grantedCard?: ((callId: string) => CardCall | undefined) | undefined;
  readonly toolNamed: (name: string) => RunTool | undefined;
}
