import type { ToolSet } from '../contract/tool-set.ts';
import type { AdvertisedTool } from '../tools/advertise.ts';
import type { PlanRules } from './batch-plan.ts';

/** The tools of one step and the instructions that go with them. */
export interface StepTools {
  readonly tools: ToolSet;
  readonly system: string;
  /** The instructions without the list of terminal tools, for a request in which none may be called. */
  readonly body: string;
  readonly advertised: readonly AdvertisedTool[];
  readonly plan: PlanRules;
  readonly hasRewind: boolean;
}
