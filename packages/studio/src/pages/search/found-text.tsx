import type { SearchResult } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import { agentNames } from '../../data/runs.ts';
import { everySpaceName } from '../../data/space-names.ts';
import { TrialWord } from '../../parts/run/trial-mark.tsx';
import { Time } from '../../parts/ui/time.tsx';

/** A result. It leads to the message in its space, or to the call or the run. */
export function FoundText({ result }: { result: SearchResult }): ReactElement {
  return (
    <li className="border-b border-line py-2">
      <Place result={result}>
        <span className="flex flex-wrap items-baseline gap-x-2 text-sm">
          <span className="font-medium">{KIND[result.kind]}</span>
          <TrialWord run={result} />
          <Where result={result} />
          <span className="ml-auto text-xs text-quiet">
            <Time at={result.at} />
          </span>
        </span>
        <span dir="auto" className="block break-words whitespace-pre-line">
          {result.snippet.map(({ text, isMatch }, index) =>
            isMatch ? (
              <mark key={index} className="bg-selected font-medium text-text">
                {withVisibleControls(text)}
              </mark>
            ) : (
              withVisibleControls(text)
            ),
          )}
        </span>
      </Place>
    </li>
  );
}

const KIND: Readonly<Record<SearchResult['kind'], string>> = {
  message: 'Message',
  input: 'Input',
  output: 'Output',
  error: 'Error',
};

const linkClass = 'block rounded px-2 py-1 hover:bg-raised';

function Place({ result, children }: { result: SearchResult; children: ReactNode }): ReactElement {
  const { spaceId, seq, runId = '', callId, kind } = result;
  if (spaceId !== undefined)
    return (
      <Link
        to="/spaces/$id"
        params={{ id: spaceId }}
        search={seq === undefined ? {} : { at: seq }}
        className={linkClass}
      >
        {children}
      </Link>
    );
  const call = callId === undefined ? {} : { call: callId, tab: kind === 'input' ? 'input' : 'output' };
  return (
    <Link to="/runs/$id" params={{ id: runId }} search={call} className={linkClass}>
      {children}
    </Link>
  );
}

function Where({ result: { spaceId, agentId, toolName } }: { result: SearchResult }): ReactElement {
  const { data: spaces } = useQuery({ ...everySpaceName, enabled: spaceId !== undefined });
  const { data: agents } = useQuery({ ...agentNames, enabled: agentId !== undefined });
  const place = spaceId === undefined ? agents?.get(agentId ?? '') : spaces?.find(({ id }) => id === spaceId)?.name;
  const names = [toolName, place].filter((name) => name !== undefined);
  return <bdi className="min-w-0 truncate text-quiet">{withVisibleControls(names.join(', '))}</bdi>;
}
