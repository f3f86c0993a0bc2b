import type { ConnectionState } from '@lastcall/client';
import { Radio, WifiOff } from 'lucide-react';
import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';

/**
 * The state of the page's stream. A tab has one stream at most: a browser allows six connections per host for all its
 * tabs.
 */
type Reported =
  | { readonly state: 'none' | 'connecting' | 'live' | 'back' }
  | { readonly state: 'lost'; readonly since: number };

interface Reporting {
  readonly reported: Reported;
  report(state: ConnectionState | undefined): void;
}

const Context = createContext<Reporting>({ reported: { state: 'none' }, report: () => {} });

export function ConnectionProvider({ children }: { children: ReactNode }): ReactElement {
  const [reported, setReported] = useState<Reported>({ state: 'none' });
  const calm = useRef<ReturnType<typeof setTimeout>>(undefined);
  const value = useMemo<Reporting>(
    () => ({
      reported,
      report(state) {
        clearTimeout(calm.current);
        setReported((before) => after(before, state));
        if (state === 'live') calm.current = setTimeout(() => setReported({ state: 'live' }), 6_000);
      },
    }),
    [reported],
  );
  return <Context value={value}>{children}</Context>;
}

function after(before: Reported, state: ConnectionState | undefined): Reported {
  if (state === undefined) return { state: 'none' };
  if (state === 'connecting') return { state };
  if (state === 'live') return { state: before.state === 'lost' || before.state === 'back' ? 'back' : 'live' };
  return before.state === 'lost' ? before : { state: 'lost', since: Date.now() };
}

/** Reports the state of this page's stream to the header. */
export function useReportConnection(state: ConnectionState): void {
  const { report } = useContext(Context);
  const current = useRef(report);
  current.current = report;
  useEffect(() => current.current(state), [state]);
  useEffect(() => () => current.current(undefined), []);
}

/** True while the page's stream is interrupted. Controls that need the gateway are disabled then, and say why. */
export function useIsOffline(): boolean {
  return useContext(Context).reported.state === 'lost';
}

export function ConnectionBadge(): ReactElement {
  const { reported } = useContext(Context);
  const isLost = reported.state === 'lost';
  const Icon = isLost ? WifiOff : Radio;
  return (
    <span role="status" className={`inline-flex items-center gap-1 text-xs ${isLost ? 'text-wait' : 'text-quiet'}`}>
      {reported.state === 'none' ? null : (
        <>
          <Icon size={16} aria-hidden />
          {inWords(reported)}
        </>
      )}
    </span>
  );
}

function inWords(reported: Reported): string {
  switch (reported.state) {
    case 'none':
      return '';
    case 'connecting':
      return 'connecting';
    case 'live':
      return 'live';
    case 'back':
      return 'back, nothing was missed';
    case 'lost':
      return `offline since ${clock.format(reported.since)}, reconnecting`;
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
