import type { Answer, PendingCall, Verdict } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { client } from '../../data/client.ts';
import { answerInWords } from '../../parts/cards/call-shape.ts';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';

interface AnswerAlikeProps {
  /** Calls that wait and ask exactly what the answered one asked. */
  readonly others: readonly PendingCall[];
  /** The answer of the call that was read. Undefined until it has one. */
  readonly answer: Answer | undefined;
  readonly onSplit: () => void;
}

/** Gives the answer of a call to all others that ask the same. Each is answered by itself: some may have been answered by others meanwhile. */
export function AnswerAlike({ others, answer, onSplit }: AnswerAlikeProps): ReactElement | null {
  const queries = useQueryClient();
  const all = useMutation({
    mutationFn: async (given: Answer): Promise<readonly Verdict[]> => {
      const verdicts: Verdict[] = [];
      for (const call of others) verdicts.push(await client.pending.answer(call, alike(given)));
      return verdicts;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['pending'] }),
  });
  const isReady = answer !== undefined && others.length > 0 && !all.isPending;
  const send = (): void => {
    if (isReady) all.mutate(answer);
  };
  useKeys({ A: { label: 'Give the same answer to all calls that ask the same', run: send } });
  if (all.data !== undefined && others.length === 0) return <p role="status">{verdictsInWords(all.data)}</p>;
  if (others.length === 0) return null;
  const calls = others.length === 1 ? 'One other call asks' : `${others.length} other calls ask`;
  return (
    <div className="flex max-w-xl flex-col gap-2 rounded-card border border-line bg-surface p-3">
      <p>{calls} exactly the same. Each gets its own answer.</p>
      {all.error !== null && <ErrorNote error={all.error} title="Not all of them were answered." />}
      <div className="flex flex-wrap gap-2">
        {answer === undefined ? (
          <p className="text-sm text-quiet">Answer this one first.</p>
        ) : (
          <Button kind="primary" disabled={!isReady} aria-keyshortcuts="Shift+A" onClick={send}>
            {all.isPending
              ? 'Sending …'
              : `Answer ${others.length} more: ${withVisibleControls(answerInWords(answer))}`}
          </Button>
        )}
        <Button onClick={onSplit}>Show them one by one</Button>
      </div>
    </div>
  );
}

/** A grant covers later calls already. It is not given again with each answer. */
function alike(answer: Answer): Answer {
  if (!('approve' in answer)) return answer;
  const { grant: _grant, ...approval } = answer as Answer & { readonly grant?: unknown };
  return approval as Answer;
}

function verdictsInWords(verdicts: readonly Verdict[]): string {
  const given = verdicts.filter(({ status }) => status === 'won' || status === 'same').length;
  const late = verdicts.length - given;
  return late === 0 ? `${given} more answered.` : `${given} more answered. ${late} no longer waited.`;
}
