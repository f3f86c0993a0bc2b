import { type CardProps, withVisibleControls } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { ErrorNote } from '../ui/error-note.tsx';

/** Why an answer did not count. Cards with fields show what is wrong at the field instead. */
export function Refusal({ state }: Pick<CardProps, 'state'>): ReactElement | null {
  if (state.status === 'unsent')
    return (
      <ErrorNote
        error={state.error}
        title="Your answer did not arrive. Nothing was changed that we know of: send it again."
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
