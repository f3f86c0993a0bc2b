// The public entry point of @lastcall/core/eval.
export { compareReports, type ReportComparison } from './compare-reports.ts';
export { type EvalHost, evaluate, hostEvaluations } from './evaluate.ts';
export type {
  EvalCase,
  EvalOptions,
  EvalOutput,
  EvalReport,
  EvalSample,
  Score,
  ScoreContext,
  ScoreValue,
} from './evaluation.ts';
export { type JudgeOptions, judge } from './judge.ts';
export {
  estimateScores,
  namedCases,
  type Progress,
  type RunOptions,
  runCases,
  type ScoredSample,
} from './run-cases.ts';
export { calledTools, contains, cost, exact, latency, schema, settled } from './scores.ts';
export { type Difference, difference, type Estimate, estimate } from './statistics.ts';
