import { type CardProps, withVisibleControls } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { isRefused } from '../session/is-refused.ts';
import { ErrorNote } from '../ui/error-note.tsx';

/** Why an answer did not count. Cards with fields show the problem at the field instead. */
export function Refusal({ state }: Pick<CardProps, 'state'>): ReactElement | null {
  if (state.status === 'unsent')
    return (
      <ErrorNote
        error={state.error}
        title={
          isRefused(state.error)
            ? 'Your answer was not accepted.'
            : 'The gateway did not confirm your answer. Send it again: only one answer counts.'
        }
      />
    );
  if (state.status !== 'refused') return null;
  return (
    <div role="alert" className="text-sm text-bad">
      {state.problems.map(({ path, message }) => (
        <p key={path + message}>{withVisibleControls(`${path} ${message}`.trim())}</p>
      ))}
    </div>
  );
}
