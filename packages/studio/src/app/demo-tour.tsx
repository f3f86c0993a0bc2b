import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GitFork, HandCoins, Image, type LucideIcon, X, Zap } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { crashGateway } from '../data/crash.ts';
import { approvePayment, askForPayment, forkInDemo, sayInDemo, waitingPayment } from '../data/demo.ts';

const CLOSED = 'lastcall.tour-closed';

/** Only in the demo: what to see in two minutes. Each button does it. */
export function DemoTour(): ReactElement | null {
  const [isClosed, setClosed] = useState(() => localStorage.getItem(CLOSED) !== null);
  const steps = useSteps();
  const { mutate, variables, isPending, error } = useMutation({ mutationFn: (run: () => Promise<unknown>) => run() });
  if (isClosed) return null;
  const close = (): void => {
    localStorage.setItem(CLOSED, '1');
    setClosed(true);
  };
  return (
    <nav
      aria-label="Tour of the demo"
      className="flex min-w-0 items-center gap-1 overflow-x-auto text-text max-wide:order-last max-wide:w-full"
    >
      <ol className="flex gap-1">
        {steps.map(({ word, icon: Icon, run }, index) => (
          <li key={word}>
            <button
              type="button"
              disabled={isPending}
              aria-busy={isPending && variables === run}
              onClick={() => mutate(run)}
              className="inline-flex min-h-7 items-center gap-1.5 rounded-full px-2 whitespace-nowrap hover:bg-selected disabled:text-quiet pointer-coarse:min-h-11"
            >
              <Icon size={16} aria-hidden /> {index + 1}. {word}
            </button>
          </li>
        ))}
      </ol>
      {error !== null && (
        <span role="alert" className="whitespace-nowrap text-bad">
          {error.message}
        </span>
      )}
      <button
        type="button"
        aria-label="Close the tour"
        onClick={close}
        className="inline-flex size-7 shrink-0 items-center justify-center rounded hover:bg-selected"
      >
        <X size={16} aria-hidden />
      </button>
    </nav>
  );
}

interface TourStep {
  readonly word: string;
  readonly icon: LucideIcon;
  readonly run: () => Promise<unknown>;
}

function useSteps(): readonly TourStep[] {
  const navigate = useNavigate();
  const [steps] = useState<readonly TourStep[]>(() => {
    const show = async (id: string | undefined): Promise<void> => {
      if (id !== undefined) await navigate({ to: '/spaces/$id', params: { id } });
    };
    return [
      {
        word: 'A picture',
        icon: Image,
        run: async () => await show(await sayInDemo('Travel desk', 'Draw a postcard of Tokyo.')),
      },
      { word: 'Ask for a payment', icon: HandCoins, run: async () => await show(await askForPayment()) },
      {
        word: 'Approve it and crash',
        icon: Zap,
        async run() {
          const payment = await waitingPayment();
          await show(payment.spaceId);
          await approvePayment(payment);
          await crashGateway();
        },
      },
      {
        word: 'What if it snowed?',
        icon: GitFork,
        async run() {
          const made = await forkInDemo();
          if (made === undefined) return;
          await navigate({ to: '/runs/$id/compare/$other', params: { id: made.runId, other: made.forkId } });
        },
      },
    ];
  });
  return steps;
}
