import type { Erasure } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { erasureList } from '../../data/settings.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';

export function ErasuresTab(): ReactElement {
  return (
    <Requires scope="admin" to="see what was erased">
      <Erasures />
    </Requires>
  );
}

function Erasures(): ReactElement {
  const { data: erasures, error, refetch } = useQuery(erasureList);
  return (
    <Section title="Erasures">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      {erasures?.length === 0 && (
        <p className="text-quiet">Nothing was erased yet. People, spaces and agents have a button for it.</p>
      )}
      <ul aria-label="Erasures" className="flex flex-col">
        {erasures?.map((erasure) => (
          <li
            key={erasure.id}
            className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-1 last:border-b-0"
          >
            <span className="font-medium">{KINDS[erasure.kind]}</span>
            <span className="min-w-0 flex-1 truncate font-mono text-xs text-quiet">{erasure.subjectId}</span>
            <span role="status">{progressOf(erasure)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const KINDS: Readonly<Record<Erasure['kind'], string>> = {
  person: 'Person',
  space: 'Space',
  conversation: 'Conversation',
  agent: 'Agent',
};

const PHASES: Readonly<Record<Erasure['phase'], string>> = {
  collect: 'reading what is erased',
  sources: 'replacing texts',
  threads: 'replacing what agents made of them',
  copies: 'looking for copies',
  files: 'cleaning the files of the database',
  done: 'done',
};

function progressOf({ status, phase, replaced, error, doneAt }: Erasure): string {
  if (status === 'done') return `Erased ${new Date(doneAt ?? 0).toLocaleString()}, ${replaced} rows.`;
  const trouble = error === undefined ? '' : ` It is tried again: ${error}`;
  return `Running: ${PHASES[phase]}, ${replaced} rows so far.${trouble}`;
}
