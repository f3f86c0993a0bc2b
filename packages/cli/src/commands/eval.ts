import { type Command, InvalidArgumentError } from 'commander';
import type { EvalCommandOptions } from '../eval/run-evaluations.ts';
import { apiOptions } from './api-options.ts';
import { addEvalAdd } from './eval-add.ts';
import { wholeNumber } from './whole-number.ts';

/** Cases at once, or runs of a case. */
const readCount = wholeNumber(1, 10_000);

export function addEval(program: Command): void {
  const command = apiOptions(
    program
      .command('eval')
      .argument(
        '[files...]',
        'files *.eval.ts, patterns such as "evals/*", or folders (default: all below here); with --last an agent',
      ),
  )
    .description('Run evaluations: give tasks to an agent, and score what it does.')
    .option('--min <share>', 'exit with 1 if the mean of a score is below this, e.g. 0.9', readShare)
    .option('--baseline <file>', 'compare with the report of an earlier evaluation')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--parallel <n>', 'how many cases run at once', readCount)
    .option('--repeat <n>', 'how often each case is run', readCount)
    .option('--model <name>', "use this model in place of the agent's, for cases of recorded runs")
    .option(
      '--instructions <file>',
      "use the instructions in this file in place of the agent's, for cases of recorded runs",
    )
    .option(
      '--last <n>',
      'try an agent on its last tasks, with their recorded outcomes, and show what differs',
      wholeNumber(1, 50),
    )
    .option('--send', 'send the results to the gateway: the studio shows them beside earlier versions')
    .option('--label <version>', 'the name of the version for --send (default: that of the configuration)')
    .option('--fresh', 'do not continue an evaluation that was interrupted')
    .option('--out <folder>', 'where reports are kept', '.lastcall/evals')
    .addHelpText('after', HELP)
    .action(run);
  addEvalAdd(command);
}

/** Loads what evaluates only now: the other commands do without it. */
async function run(files: readonly string[], options: EvalCommandOptions): Promise<void> {
  const { runEvaluations } = await import('../eval/run-evaluations.ts');
  await runEvaluations(files, options);
}

function readShare(text: string): number {
  const share = Number(text);
  if (text.trim() === '' || !(share >= 0 && share <= 1))
    throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return share;
}

const HELP = `
A file to start with, desk.eval.ts:

  import { contains, evaluate } from '@lastcall/core/eval';

  await evaluate({
    agent: 'Desk', // an agent of the gateway; or run: (input) => …
    cases: [{ name: 'hours', input: 'When are you open?', expected: '9 to 5' }],
    scores: { answer: contains() },
  });

Agents of the gateway act for real, except in cases of recorded runs: "lastcall eval add RUN" writes one.
"lastcall eval Desk --last 10 --instructions draft.md" tries a draft on the last tasks, and nothing acts outside.
Exit codes: 0 done, 1 below --min or nothing worked, 2 wrong usage, 3 no gateway answers or allows it, 130 interrupted.`;
