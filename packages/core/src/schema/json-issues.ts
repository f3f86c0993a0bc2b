import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Finding, Place, Run } from './check.ts';
import { formatPath, takePath } from './format-path.ts';
import { messageOf } from './json-message.ts';
import { PROBLEM_STEPS } from './steps.ts';
import { listOf } from './subschemas.ts';

/** A problem with its place as a list of keys. */
interface JsonIssue extends StandardSchemaV1.Issue {
  readonly path: readonly PropertyKey[];
  /**
   * True if it may be only a consequence: `unevaluatedProperties` also reports a key as unknown if its value is wrong.
   */
  readonly isDoubtful: boolean;
}

/** The interpreter's findings in a readable form. */
export function readIssues(findings: readonly Finding[], run: Run): readonly StandardSchemaV1.Issue[] {
  const issues = readFindings(findings, run);
  const byText = new Map(issues.map(({ path, message }) => [`${formatPath(path)}: ${message}`, { path, message }]));
  return [...byText.values()];
}

function readFindings(findings: readonly Finding[], run: Run): readonly JsonIssue[] {
  const issues = findings.flatMap((finding) =>
    finding.branches === undefined ? readFinding(finding, run) : readUnion(finding, finding.branches, run),
  );
  const certain = issues.filter((issue) => !issue.isDoubtful);
  return certain.length > 0 ? certain : issues;
}

/** The problems of the alternative that was meant, if that can be determined; otherwise what each of them lacks. */
function readUnion(union: Finding, groups: readonly (readonly Finding[])[], run: Run): readonly JsonIssue[] {
  const count = listOf((union.schema as Readonly<Record<string, unknown>>)[union.keyword]).length;
  const path = pathTo(union.place, run);
  const say = (message: string): readonly JsonIssue[] => [{ path, message, isDoubtful: false }];
  if (groups.length < count)
    return say(`fits ${count - groups.length} of ${count} alternatives; it must fit exactly one`);
  const meant = groups.filter((group) => !group.some((finding) => tellsAlternativesApart(union, finding, run)));
  if (meant.length === 1) return readFindings(meant[0] ?? [], run);
  const reasons = groups.map((group, index) => `(${index + 1}) ${reasonText(readFindings(group, run), path)}`);
  run.steps.takeText(reasons.reduce((sum, { length }) => sum + length, 0));
  return say(`fits none of ${count} alternatives: ${reasons.join('; ')}`);
}

/** A wrong type of the value itself, or a wrong constant in it or directly below: another alternative was meant. */
function tellsAlternativesApart(union: Finding, finding: Finding, run: Run): boolean {
  run.steps.take();
  const { keyword, place, branches = [] } = finding;
  if (keyword === 'type' && place === union.place) return true;
  const isConstant = keyword === 'const' || keyword === 'enum';
  if (isConstant && (place === union.place || place?.outer === union.place)) return true;
  return branches.some((group) => group.some((one) => tellsAlternativesApart(union, one, run)));
}

function reasonText(issues: readonly JsonIssue[], base: readonly PropertyKey[]): string {
  const texts = issues.map(({ path, message }) => {
    const below = formatPath(path.slice(base.length));
    return below === '' ? message : `${below}: ${message}`;
  });
  return texts.join(', ');
}

function readFinding(finding: Finding, run: Run): readonly JsonIssue[] {
  const path = pathTo(finding.place, run);
  const isDoubtful = finding.schema === false && finding.holder === 'unevaluatedProperties';
  return messageOf(finding, run).map(({ key, message }) => {
    run.steps.take(PROBLEM_STEPS);
    run.steps.takeText(message.length);
    return {
      path: key === undefined ? path : [...path, key],
      message: finding.isName ? `the key itself is wrong: ${message}` : message,
      isDoubtful,
    };
  });
}

function pathTo(place: Place | undefined, run: Run): readonly PropertyKey[] {
  const keys: PropertyKey[] = [];
  for (let at = place; at !== undefined; at = at.outer) {
    takePath([at.key], run.steps);
    keys.push(at.key);
  }
  return keys.reverse();
}
