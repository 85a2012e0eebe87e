import { Registry } from 'prom-client'
import { collectMetrics, type MetricsOptions } from '../../src/observe/metrics/metrics.ts'

/** The page that Prometheus reads. It has each series as `name{label="value",…}`, without the prefix, and its value. */
export class Page {
  readonly register = new Registry()
  readonly #metrics: { stop(): void }

  constructor(options: MetricsOptions = {}) {
    this.#metrics = collectMetrics({ register: this.register, ...options })
  }

  text(): Promise<string> {
    return this.register.metrics()
  }

  /** The series of one metric that are not 0. For a histogram, the values are counts. */
  async of(metric: string): Promise<Record<string, number>> {
    const text = await this.text()
    const line = new RegExp(`^holdfast_${metric}(?:_count)?(?:\\{(.*)\\})? (\\S+)$`, 'gm')
    const series = [...text.matchAll(line)].map(
      ([, labels = '', value]) => [labels.replaceAll('"', ''), Number(value)] as const,
    )
    return Object.fromEntries(series.filter(([, value]) => value !== 0))
  }

  /** Returns the sum of all series of this metric, in seconds. */
  async sum(metric: string): Promise<number> {
    const line = new RegExp(`^holdfast_${metric}_sum\\S* (\\S+)$`, 'gm')
    const sums = [...(await this.text()).matchAll(line)].map(([, value]) => Number(value))
    return sums.reduce((a, b) => a + b, 0)
  }

  stop(): void {
    this.#metrics.stop()
  }
}
