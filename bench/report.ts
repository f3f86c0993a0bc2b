import { type Held, toSentence } from './held.ts';

/** A table of figures, and the sentence that says what they are compared with. A benchmark that failed has only the sentence. */
export interface Report {
  readonly title: string;
  readonly claim: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** Conclusions that are computed from the figures. */
  readonly findings?: readonly (string | Held)[];
}

export function toMarkdown(report: Report): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.map(format).join(' | ')} |`;
  const head = report.columns.length === 0 ? [] : [line(report.columns), line(report.columns.map(() => '---'))];
  const findings =
    report.findings === undefined
      ? []
      : [...report.findings.map((finding) => `- ${typeof finding === 'string' ? finding : toSentence(finding)}`), ''];
  const rows = [...head, ...report.rows.map(line)];
  const table = rows.length === 0 ? [] : [...rows, ''];
  return [`## ${report.title}`, '', report.claim, '', ...table, ...findings].join('\n');
}

function format(cell: string | number): string {
  if (typeof cell === 'string') return cell;
  if (cell === 0) return '0';
  return cell >= 100 ? Math.round(cell).toLocaleString('en') : String(Number(cell.toPrecision(3)));
}
