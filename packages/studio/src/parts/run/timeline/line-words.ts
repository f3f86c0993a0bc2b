import type { Run } from '@lastcall/client';
import type { LineRow } from '@lastcall/client/timeline';
import { duration } from '../../ui/time.tsx';
import { originInWords, workerName } from '../call-words.ts';
import { waitLineInWords } from '../wait-words.ts';

/** The text of a timeline line that is neither a step nor a call. `stopped` says why a run ended. */
export function lineInWords(row: LineRow, stopped: (run: Run) => string): string {
  switch (row.kind) {
    case 'arrival': {
      const { by, text, spaceName } = row.arrival;
      const place = spaceName === undefined ? '' : ` in ${spaceName}`;
      return `${by ?? row.arrival.type}${place}: ${firstLineOf(text)}`;
    }
    case 'message':
      return row.origin === undefined
        ? `told as ${row.role}: ${firstLineOf(row.text)}`
        : `${originInWords(row.origin)} was told: ${firstLineOf(row.text.replaceAll(/\s+/g, ' '))}`;
    case 'takeover': {
      const { from, to, silentMs } = row.takeover;
      const calls = `${row.repeated} ${row.repeated === 1 ? 'call' : 'calls'} repeated`;
      return `${workerName(from)} silent ${duration(silentMs)}, ${sameHost(from, to)} took over, ${calls}`;
    }
    case 'nudge':
      return `nudge, ${WHY[row.why]}: ${firstLineOf(row.text)}`;
    case 'rewind': {
      const left = row.remaining.length === 0 ? '' : `, ${row.remaining.length} could not be undone`;
      return `rewind to the start of the turn${left}: ${firstLineOf(row.text)}`;
    }
    case 'trimmed':
      return `the model no longer sees ${row.hidden} of the calls of step ${row.step}`;
    case 'command':
      return row.error === undefined
        ? `the command ${row.name} ran`
        : `the command ${row.name} failed: ${firstLineOf(row.error)}`;
    case 'summary':
      return `earlier runs were summarised: ${firstLineOf(row.text)}`;
    case 'asking':
      return 'waiting for the model';
    case 'stop':
      return stopped(row.run);
    case 'run':
      return `Run ${row.run.number}${row.run.attempt > 1 ? `, attempt ${row.run.attempt}` : ''}`;
    case 'wait':
      return waitLineInWords(row.wait);
  }
}

/** Two workers in one process have the same host and number. */
function sameHost(from: string | undefined, to: string | undefined): string {
  return workerName(from) === workerName(to) ? 'another worker there' : workerName(to);
}

const WHY = {
  'no-call': 'no tool was called',
  length: 'the reply was cut off',
  'last-word': 'no tools are left',
} as const;

export function firstLineOf(text: string): string {
  return (text.trimStart().split('\n', 1)[0] ?? '').slice(0, 400);
}
