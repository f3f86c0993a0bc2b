import { compareReports, type Estimate, type EvalReport, type EvalSample } from '@lastcall/core/eval';
import { duration } from '../terminal/duration.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';

/** The table of an evaluation, and the cases that went worst. */
export function reportInWords(report: EvalReport, baseline: EvalReport | undefined): string {
  const compared = baseline && compareReports(baseline, report);
  const head = ['score', 'mean', '95 % interval', 'cases', ...(compared === undefined ? [] : ['change', ''])];
  const rows = Object.entries(report.scores).map(([name, found]) => {
    const change = compared?.scores[name];
    const changed =
      compared === undefined ? [] : change === undefined ? ['', 'new'] : [signed(change.mean), verdictOf(change)];
    return [plainLine(name, 40), percent(found.mean), intervalOf(found), String(found.n), ...changed];
  });
  return [
    `${plainLine(report.name, 200)}: ${summaryOf(report)}`,
    table([head, ...rows]),
    ...worstOf(report),
    ...(compared !== undefined && compared.cases.onlyAfter + compared.cases.onlyBefore > 0
      ? [`Compared: ${compared.cases.shared} cases that both have.`]
      : []),
  ].join('\n');
}

function verdictOf({ verdict, p }: { readonly verdict: string; readonly p: number }): string {
  if (verdict === 'may be chance') return `may be chance (p ${p < 0.1 ? p.toFixed(2) : p.toFixed(1)})`;
  return verdict;
}

function summaryOf({ samples, failed, usage, cost, ms }: EvalReport): string {
  const parts = [
    `${samples.length} ${samples.length === 1 ? 'run' : 'runs'} in ${duration(ms)}`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(usage.totalTokens === 0 ? [] : [`${usage.totalTokens.toLocaleString('en')} tokens`]),
    ...(cost === undefined ? [] : [`cost ${cost.toFixed(4)}`]),
  ];
  return `${parts.join(', ')}.`;
}

const MOST_WORST = 5;

/** The cases with the lowest scores, each with a reason. */
function worstOf({ samples }: EvalReport): readonly string[] {
  const wrong = samples
    .map((sample) => ({ sample, value: meanScore(sample) }))
    .filter(({ value }) => value < 1)
    .sort((one, other) => one.value - other.value);
  const lines = wrong
    .slice(0, MOST_WORST)
    .map(({ sample }) => `  ${plainLine(`${sample.case}: ${whyOf(sample)}`, 200)}`);
  const more = wrong.length > MOST_WORST ? [`  … and ${wrong.length - MOST_WORST} more`] : [];
  return lines.length === 0 ? [] : ['Worst:', ...lines, ...more];
}

function meanScore({ scores }: EvalSample): number {
  const values = Object.values(scores).map(({ value }) => value);
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function whyOf({ error, scores }: EvalSample): string {
  if (error !== undefined) return error;
  const wrong = Object.entries(scores).filter(([, { value }]) => value < 1);
  return wrong
    .map(([name, { value, reason }]) => `${name} ${percent(value)}${reason === undefined ? '' : ` (${reason})`}`)
    .join(', ');
}

function percent(value: number): string {
  return Number.isFinite(value) ? `${Math.round(value * 100)} %` : '–';
}

function signed(change: number): string {
  const points = Math.round(change * 100);
  return `${points > 0 ? '+' : ''}${points} %`;
}

/** One run says nothing about the next. */
function intervalOf({ low, high }: Estimate): string {
  return `${percent(low)} – ${percent(high)}`;
}
