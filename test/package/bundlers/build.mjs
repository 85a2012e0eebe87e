// Bundles app.js and worker.js of a project as the pages say.
//
//   build.mjs <folder of the bundlers> <project> esbuild|rollup|webpack|ncc esm|cjs plain|minified
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { join } from 'node:path'

const [bundlers, project, tool, format, size] = process.argv.slice(2)
const require = createRequire(join(bundlers, 'package.json'))
const isEsm = format === 'esm'
const minify = size === 'minified'
const ext = isEsm ? 'mjs' : 'cjs'
const out = join(project, 'out')
const entries = { app: join(project, 'app.js'), worker: join(project, 'worker.js') }

const tools = {
  async esbuild() {
    const js =
      'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'
    await require('esbuild').build({
      entryPoints: entries,
      bundle: true,
      platform: 'node',
      format,
      minify,
      outdir: out,
      outExtension: { '.js': `.${ext}` },
      logLevel: 'error',
      banner: isEsm ? { js } : {},
    })
  },
  async rollup() {
    const plugins = [
      require('@rollup/plugin-node-resolve').nodeResolve({ preferBuiltins: true }),
      require('@rollup/plugin-commonjs')(),
      require('@rollup/plugin-json')(),
    ]
    const bundle = await require('rollup').rollup({
      input: entries,
      plugins,
      external: isBuiltin,
      onwarn: () => undefined,
    })
    await bundle.write({
      dir: out,
      format,
      entryFileNames: `[name].${ext}`,
      chunkFileNames: `[name].${ext}`,
      plugins: minify ? [require('@rollup/plugin-terser')()] : [],
    })
  },
  async webpack() {
    const stats = await new Promise((resolve, reject) =>
      require('webpack')(
        {
          mode: 'production',
          target: 'node20',
          entry: entries,
          output: {
            path: out,
            filename: `[name].${ext}`,
            ...(isEsm && { module: true, chunkFormat: 'module', library: { type: 'module' } }),
          },
          experiments: { outputModule: isEsm },
          optimization: { minimize: minify },
        },
        (error, done) => (error ? reject(error) : resolve(done)),
      ),
    )
    if (stats.hasErrors()) throw new Error(stats.toString('errors-only'))
  },
  async ncc() {
    for (const [name, entry] of Object.entries(entries)) {
      const { code, assets } = await require('@vercel/ncc')(entry, { minify, quiet: true })
      mkdirSync(out, { recursive: true })
      writeFileSync(join(out, `${name}.${ext}`), code)
      for (const [file, { source }] of Object.entries(assets))
        writeFileSync(join(out, file), source)
    }
  },
}

await tools[tool]()
