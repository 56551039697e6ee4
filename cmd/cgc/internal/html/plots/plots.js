// The parts of Apache ECharts that a report uses. build.sh bundles them into plots.min.js.gz.
import { init, use } from 'echarts/core';
import { BarChart, CustomChart, HeatmapChart, LineChart, LinesChart, ScatterChart } from 'echarts/charts';
import { DataZoomInsideComponent, GridComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';

use([
  BarChart, CustomChart, HeatmapChart, LineChart, LinesChart, ScatterChart,
  DataZoomInsideComponent, GridComponent, TooltipComponent, VisualMapContinuousComponent, CanvasRenderer,
]);
window.echarts = { init };
