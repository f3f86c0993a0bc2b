import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { gatewayStatus } from '../../data/status.ts';
import { amountInWords } from './amounts.ts';

/** An amount with its currency, which is that of the configured prices. */
export function Cost({ of }: { of: number }): ReactElement {
  const { data } = useQuery(gatewayStatus);
  return (
    <>
      {amountInWords(of)} {data?.currency}
    </>
  );
}
