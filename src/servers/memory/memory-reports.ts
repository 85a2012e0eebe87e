import type { ClientReports } from '../client-reports.ts'

interface ReportsInMemory {
  readonly server: { readonly reports: Map<string, Map<string, string>> }
  request<T>(work: () => T, callMs: number): Promise<T>
}

/** Returns the reports on a server in memory, as one client uses them. */
export function memoryReports(store: ReportsInMemory): ClientReports {
  const { reports } = store.server
  return {
    set(clientId, field, text) {
      const texts = reports.get(clientId)
      if (text === undefined) texts?.delete(field)
      else if (texts === undefined) reports.set(clientId, new Map([[field, text]]))
      else texts.set(field, text)
    },
    remove: (clientId) => void reports.delete(clientId),
    get: (clientId, field, callMs) =>
      store.request(() => reports.get(clientId)?.get(field), callMs),
    ofAll: (field, callMs) =>
      store.request(() => {
        const found = [...reports].map(([client, texts]) => [client, texts.get(field)] as const)
        return new Map(
          found.flatMap(([client, text]) => (text === undefined ? [] : [[client, text]])),
        )
      }, callMs),
  }
}
