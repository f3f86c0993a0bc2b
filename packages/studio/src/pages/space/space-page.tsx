import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function SpacePage(): ReactElement {
  return <Page title="Space">{null}</Page>;
}
