import type { CardProps } from '@lastcall/client/react';
import { type ReactNode, useState } from 'react';

interface Question {
  readonly train: string;
  readonly seats: readonly string[];
  readonly taken: readonly string[];
}

/** The card of `choose_seats`: a map of the seats instead of a form. `props.answer` sends the result of the tool. */
export function SeatMap({ call, state, answer }: CardProps<Question, { seats: readonly string[] }>): ReactNode {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  // While the model writes, there is no input yet.
  if (call.input === undefined) return <section aria-label="Seats">The agent is looking for seats …</section>;
  const { train, seats, taken } = call.input;
  const isOpen = state.status === 'waiting' || state.status === 'refused' || state.status === 'unsent';
  const toggle = (seat: string): void =>
    setChosen(chosen.includes(seat) ? chosen.filter((one) => one !== seat) : [...chosen, seat]);
  return (
    <section aria-label="Seats">
      <h2>Train {train}</h2>
      <div className="seats">
        {seats.map((seat) => (
          <button
            key={seat}
            type="button"
            aria-pressed={chosen.includes(seat)}
            disabled={!isOpen || taken.includes(seat)}
            onClick={() => toggle(seat)}
          >
            {seat}
          </button>
        ))}
      </div>
      {isOpen ? (
        <p>
          <button
            type="button"
            disabled={chosen.length === 0}
            onClick={() => void answer({ result: { seats: chosen } })}
          >
            Take {chosen.join(', ')}
          </button>
        </p>
      ) : (
        <p role="status">{sentence({ call, state })}</p>
      )}
    </section>
  );
}

/** No sentence says that an answer counted before the gateway confirms it. */
function sentence({ call, state }: Pick<CardProps<Question>, 'call' | 'state'>): string {
  switch (state.status) {
    case 'sending':
      return 'Sending …';
    case 'lost':
      return `${state.by.name} chose before you.`;
    case 'expired':
      return 'No seats were chosen in time.';
    default:
      return `${(call.output as { seats: string[] } | undefined)?.seats.join(', ') ?? ''}: ${call.by?.name ?? ''}`;
  }
}
