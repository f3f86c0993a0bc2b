import { styleText } from 'node:util';
import { duration } from './duration.ts';
import { plainLine } from './plain-line.ts';

interface LoggedLine {
  readonly level: number;
  readonly time: string;
  readonly msg: string;
  readonly details?: Details;
}

/** The details of a log line: those that the gateway logs for messages, calls and runs, and any others. */
type Details = Readonly<Record<string, unknown>>;

const WARN = 40;
const ERROR = 50;

/** Turns a JSON line of the gateway's log into one readable line. */
export function logLine(json: string): string {
  const line = parse(json);
  if (line === undefined) return plainLine(json);
  const time = styleText('dim', clockTime(line.time));
  return `${time} ${bodyOf(line)}`;
}

function parse(json: string): LoggedLine | undefined {
  try {
    return JSON.parse(json) as LoggedLine;
  } catch {
    return undefined;
  }
}

function bodyOf({ level, msg, details = {} }: LoggedLine): string {
  switch (details.event) {
    case 'message':
      return messageLine(details);
    case 'call':
      return callLine(details);
    case 'run':
      return runLine(details);
    default: {
      const text = plainLine([msg, reasonIn(details)].filter((part) => part !== '').join(' '), 500);
      return level >= ERROR ? styleText('red', `! ${text}`) : level >= WARN ? styleText('yellow', `! ${text}`) : text;
    }
  }
}

function messageLine({ space, from, text, characters }: Details): string {
  const said = text === undefined ? `${characters} characters` : String(text);
  return `${plainLine(String(space))}  ${styleText('bold', plainLine(String(from)))}: ${plainLine(said)}`;
}

function callLine({ agent, toolName, outcome, code, message, durationMs }: Details): string {
  const why = message === undefined ? '' : `: ${plainLine(String(message), 300)}`;
  // A call that was denied, or that no one answered, is not an error.
  const isDecided = code === 'denied' || code === 'expired';
  const status = isDecided ? code : String(outcome);
  const ended = code === undefined || isDecided ? wordOf(status) : `${wordOf(status)} ${code}`;
  const shown = styleText(COLOURS[status] ?? 'dim', `${ended}${why}`);
  return `${plainLine(String(agent))}  ${plainLine(String(toolName))} ${shown}  ${duration(Number(durationMs))}`;
}

function runLine({ agent, run, outcome, calls, durationMs }: Details): string {
  const counts = Object.entries((calls ?? {}) as Record<string, number>);
  const counted = counts.map(([status, count]) => `${count} ${wordOf(status)}`).join(', ') || 'no calls';
  const isWaiting = outcome === 'completed' && counts.some(([status]) => status === 'pending');
  const status = isWaiting ? 'waiting' : String(outcome);
  const ended = outcome === 'completed' ? status : styleText('red', status);
  return `${plainLine(String(agent))}  run ${run} ${ended}: ${counted}  ${duration(Number(durationMs))}`;
}

const COLOURS: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = { ok: 'green', error: 'red', pending: 'yellow' };

/** People read "waiting" instead of "pending". */
function wordOf(outcome: string): string {
  return outcome === 'pending' ? 'waiting' : outcome;
}

function reasonIn({ message, error, problem, reason }: Details): string {
  const nested = (error as { message?: unknown } | undefined)?.message;
  const found = [message, nested, problem, reason].find((one) => typeof one === 'string');
  return found === undefined ? '' : String(found);
}

function clockTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? '' : time.toTimeString().slice(0, 8);
}
