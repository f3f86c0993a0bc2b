import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react';
import { type Session, signIn } from '../../session/session-api.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { useTitle } from '../../ui/page.tsx';

interface SignInPageProps {
  readonly onSignedIn: (session: Session) => void;
  readonly children?: ReactNode;
}

/** For whom no link signed in: a key, typed. */
export function SignInPage({ onSignedIn, children }: SignInPageProps): ReactElement {
  useTitle('Sign in');
  const [key, setKey] = useState('');
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    signIn({ key: key.trim() })
      .then(onSignedIn, setError)
      .finally(() => setSending(false));
  };
  return (
    <main className="mx-auto flex min-h-full max-w-md flex-col justify-center gap-4 p-4">
      <h1 className="text-2xl font-semibold">Sign in to Lastcall</h1>
      {children}
      <p className="text-quiet">
        The terminal in which the gateway was started shows a link that signs you in once. <code>lastcall open</code>{' '}
        makes another one.
      </p>
      <form onSubmit={submit} className="flex flex-col gap-3 rounded-card border border-line bg-surface p-4">
        <TextField
          label="Secret key"
          type="password"
          autoComplete="current-password"
          placeholder="lc_sk_…"
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
        {error !== undefined && <ErrorNote error={error} title="You are not signed in." />}
        <Button kind="primary" type="submit" disabled={isSending || key.trim() === ''}>
          {isSending ? 'Signing in …' : 'Sign in'}
        </Button>
      </form>
    </main>
  );
}
