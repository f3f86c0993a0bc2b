import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();

/** What the browser allows. `denied` also where there are no notifications. */
function permission(): NotificationPermission {
  return typeof Notification === 'undefined' ? 'denied' : Notification.permission;
}

export function useNotificationPermission(): NotificationPermission {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, permission);
}

export async function askForNotifications(): Promise<void> {
  await Notification.requestPermission();
  for (const listener of listeners) listener();
}
