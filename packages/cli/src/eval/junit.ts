import type { EvalReport } from '@lastcall/core/eval';
import { whyOf } from './report-in-words.ts';

/** The reports as JUnit XML, which CI systems show. A case fails if a score of it is below `min`, or its run failed. */
export function toJUnit(reports: readonly EvalReport[], min: number): string {
  const suites = reports.map(({ name, samples, ms }) => {
    const cases = samples.map((sample) => {
      const { case: title, sample: number, error, scores } = sample;
      const isWrong = error !== undefined || Object.values(scores).some(({ value }) => value < min);
      const end = isWrong ? `><${tagOf(error)} message="${escaped(whyOf(sample))}"/></testcase>` : '/>';
      const shown = samples.some((other) => other.case === title && other.sample > 1) ? `${title} #${number}` : title;
      return `    <testcase classname="${escaped(name)}" name="${escaped(shown)}" time="${sample.ms / 1_000}"${end}`;
    });
    const wrong = cases.filter((line) => line.includes('<failure')).length;
    const errors = cases.filter((line) => line.includes('<error')).length;
    return `  <testsuite name="${escaped(name)}" tests="${cases.length}" failures="${wrong}" errors="${errors}" time="${ms / 1_000}">\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}

function tagOf(error: string | undefined): 'error' | 'failure' {
  return error === undefined ? 'failure' : 'error';
}

/** Characters that XML cannot hold are left out. */
function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 does not allow them
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll(/[\n\r\t]/g, (character) => `&#${character.charCodeAt(0)};`)
  );
}
