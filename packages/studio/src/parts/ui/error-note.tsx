import { ClientError } from '@lastcall/client';
import { CircleAlert } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { chosenProject, lookInAllProjects } from '../../data/project.ts';
import { Button } from './button.tsx';

interface ErrorNoteProps {
  readonly error: unknown;
  /** What was tried, e.g. "The message was not sent." */
  readonly title?: string | undefined;
  /** What to do next, e.g. a button. Default: trying again, if `retry` is given. */
  readonly children?: ReactNode;
  readonly retry?: (() => void) | undefined;
}

/** Says what happened and what to do, with the request's id for the gateway's log. */
export function ErrorNote({ error, title, retry, children }: ErrorNoteProps): ReactElement {
  const { message, requestId } = inWords(error);
  return (
    <div role="alert" className="flex gap-2 rounded border border-line bg-bad-soft p-3">
      <CircleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <div className="flex min-w-0 flex-col gap-1">
        {title !== undefined && <p className="font-medium">{title}</p>}
        <p>{message}</p>
        {retry !== undefined && (
          <p>
            <Button onClick={retry}>Try again</Button>
          </p>
        )}
        {isNotFound(error) && chosenProject() !== undefined && (
          <p className="flex flex-wrap items-center gap-2">
            This tab shows one project only, and it may be in another.{' '}
            <Button onClick={lookInAllProjects}>Look in all projects</Button>
          </p>
        )}
        {children}
        {requestId !== undefined && <p className="text-xs text-quiet">Request {requestId}</p>}
      </div>
    </div>
  );
}

function isNotFound(error: unknown): boolean {
  return error instanceof ClientError && error.status === 404;
}

function inWords(error: unknown): { message: string; requestId: string | undefined } {
  if (error instanceof ClientError) return { message: error.message, requestId: error.requestId };
  return { message: error instanceof Error ? error.message : String(error), requestId: undefined };
}
