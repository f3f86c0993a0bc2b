import { withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, useEffect, useState } from 'react';
import { ScrollRegion } from './scroll-region.tsx';

interface LineDiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

interface Part {
  readonly sign: '+' | '−' | ' ';
  readonly lines: readonly string[];
}

/** Compares two texts line by line. A sign repeats what the colour says. */
export function LineDiff({ label, before, after }: LineDiffProps): ReactElement {
  const parts = useParts(before, after);
  return (
    <ScrollRegion label={label}>
      <div className="font-mono text-xs whitespace-pre-wrap">
        {parts.map((part, index) => (
          <DiffPart key={index} part={part} />
        ))}
      </div>
    </ScrollRegion>
  );
}

function DiffPart({ part: { sign, lines } }: { part: Part }): ReactElement {
  const Element = sign === '+' ? 'ins' : sign === '−' ? 'del' : 'div';
  const isLong = sign === ' ' && lines.length > 2 * CONTEXT + 1;
  const shown = isLong
    ? [...lines.slice(0, CONTEXT), `… ${lines.length - 2 * CONTEXT} lines are the same`, ...lines.slice(-CONTEXT)]
    : lines;
  return (
    <Element className={`block no-underline ${LOOK[sign]}`}>
      {shown.map((line, index) => (
        <span key={index} className="block">
          {sign} {withVisibleControls(line)}
        </span>
      ))}
    </Element>
  );
}

const CONTEXT = 3;
const LOOK = { '+': 'text-ok', '−': 'text-bad', ' ': 'text-quiet' } as const;

/** The diff library is loaded when there is something to compare. */
function useParts(before: string, after: string): readonly Part[] {
  const [parts, setParts] = useState<readonly Part[]>([]);
  useEffect(() => {
    let isCurrent = true;
    const show = (found: readonly Part[]): void => {
      if (isCurrent) setParts(found);
    };
    diff(before, after).then(show, () => show(uncompared(before, after)));
    return () => {
      isCurrent = false;
    };
  }, [before, after]);
  return parts;
}

async function diff(before: string, after: string): Promise<readonly Part[]> {
  const { diffLines } = await import('diff');
  return diffLines(withEnd(before), withEnd(after)).map(({ value, added, removed }) => ({
    sign: added ? '+' : removed ? '−' : ' ',
    lines: value.replace(/\n$/, '').split('\n'),
  }));
}

/** Without the library: all of the old text, then all of the new one. */
function uncompared(before: string, after: string): readonly Part[] {
  return [
    { sign: '−', lines: before.split('\n') },
    { sign: '+', lines: after.split('\n') },
  ];
}

/** Adds a line end to the last line; an empty text gets none. */
function withEnd(text: string): string {
  return text === '' ? '' : `${text}\n`;
}
